import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/** On another page the focus is at its content's beginning, so that keyboard and screen reader go on there and not in the menu. */
export function FocusAfterNavigation() {
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    window.scrollTo(0, 0);
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [pathname]);
  return null;
}
