import { ActionIcon, Burger, Group, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useLive } from '../live/live.tsx';
import { LiveBanner } from '../live/live-banner.tsx';
import { Account } from './account.tsx';
import { FocusAfterNavigation } from './focus-after-navigation.tsx';
import { Navigation } from './navigation.tsx';
import { Shortcuts } from './shortcuts.tsx';

const LIVE_TEXT = { connecting: 'connecting', live: 'live', lost: 'not live' } as const;

/** What is around every page: the ways to the others, whether it is live, light or dark, and the way out. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { kind } = useLive();
  const [open, setOpen] = useState(false);
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <Burger
          className="menu-button"
          size="sm"
          opened={open}
          onClick={() => setOpen(!open)}
          aria-label="Pages"
          aria-expanded={open}
          aria-controls="pages"
        />
        <span className="brand">hoodcloud</span>
        <Navigation open={open} onGone={() => setOpen(false)} />
        <Group gap="xs" className="top-end" wrap="nowrap">
          <span className="live-state" role="status" data-kind={kind}>
            {LIVE_TEXT[kind]}
          </span>
          <Shortcuts />
          <SchemeButton />
          <Account />
        </Group>
      </header>
      <LiveBanner />
      <FocusAfterNavigation />
      <main id="content" className="content" tabIndex={-1} data-live={kind}>
        {children}
      </main>
    </>
  );
}

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon variant="default" onClick={() => setColorScheme(other)} aria-label={`Make it ${other}`}>
      <span aria-hidden>{other === 'dark' ? '☾' : '☀'}</span>
    </ActionIcon>
  );
}
