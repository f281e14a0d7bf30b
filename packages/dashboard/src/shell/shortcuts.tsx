import { ActionIcon, Kbd, Modal, Switch, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { PLACES } from './places.ts';

const STORED_AS = 'hoodcloud-shortcuts';
/** Between `g` and the letter after it. */
const SECOND_KEY_MS = 1500;

/**
 * `g` and a letter goes to a page, `/` to the first filter, `?` tells these. They can be switched off, since who dictates or
 * slips on a key would fall over them (WCAG 2.1.4).
 */
export function Shortcuts() {
  const [open, setOpen] = useState(false);
  const [on, setOn] = useState(() => localStorage.getItem(STORED_AS) !== 'off');
  const navigate = useNavigate();
  const goAt = useRef(0);
  useEffect(() => {
    if (!on) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = Date.now() - goAt.current < SECOND_KEY_MS;
      goAt.current = event.key === 'g' ? Date.now() : 0;
      const place = isSecond ? PLACES.find(({ key }) => key === event.key) : undefined;
      if (place !== undefined) void navigate(place.path);
      else if (event.key === '?') setOpen(true);
      else if (event.key === '/' && focusFilter()) event.preventDefault();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [on, navigate]);
  const toggle = (next: boolean) => {
    if (next) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, 'off');
    setOn(next);
  };
  return (
    <>
      <ActionIcon
        className="not-on-phone"
        variant="default"
        aria-label="Keyboard shortcuts"
        onClick={() => setOpen(true)}
      >
        <span aria-hidden>?</span>
      </ActionIcon>
      <Modal.Root opened={open} onClose={() => setOpen(false)} centered lockScroll={false}>
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <Modal.Title mb="sm">
              <Title order={2} size="h4" component="span">
                Keyboard shortcuts
              </Title>
            </Modal.Title>
            <dl className="facts">
              {PLACES.map(({ name, key }) => (
                <Keys key={name} keys={['g', key]} does={name} />
              ))}
              <Keys keys={['/']} does="the first filter of the page" />
              <Keys keys={['?']} does="this" />
            </dl>
            <Switch
              mt="md"
              label="Shortcuts are on"
              checked={on}
              onChange={(event) => toggle(event.currentTarget.checked)}
              data-autofocus
            />
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

function Keys({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <>
      <dt>
        {keys.map((key) => (
          <Kbd key={key} mr={4}>
            {key}
          </Kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="listbox"]') !== null;
}

function focusFilter(): boolean {
  const first = document.querySelector<HTMLInputElement>('search input');
  first?.focus();
  return first !== null;
}
