import { Box, render, Text, useInput, useStdout } from 'ink';
import { type ReactNode, useEffect, useState } from 'react';
import type { Terminal } from '../cli-context.ts';
import { inSight, moveWindow, type RowWindow, windowText } from './row-window.ts';
import type { Line, Tone } from './screen-lines.ts';

const ENTER = '\x1b[?1049h\x1b[H'; // the other screen: what stood on the terminal comes back afterwards
const LEAVE = '\x1b[?1049l\x1b[?25h';
const FRAMES_A_SECOND = 8;

const COLOURS: Readonly<Record<Tone, { color?: string; bold?: boolean; dimColor?: boolean }>> = {
  plain: {},
  strong: { bold: true },
  dim: { dimColor: true },
  good: { color: 'green' },
  busy: { color: 'cyan' },
  bad: { color: 'red' },
};

/** What a screen is made of, from top to bottom: what stays, rows that can be scrolled, what stays below them. */
export interface ScreenParts {
  readonly head: readonly Line[];
  /** How many rows there are, and those of a range: only rows in sight are made. */
  readonly count: number;
  readonly rows: (window: RowWindow) => readonly Line[];
  readonly foot: readonly Line[];
}

interface ScreenProps {
  readonly partsOf: (width: number) => ScreenParts;
  readonly colours: boolean;
  readonly help: readonly string[];
  readonly onLeave: () => void;
  readonly onSight?: (window: RowWindow) => void;
  readonly size?: { readonly columns: number; readonly rows: number };
}

/** Draws the parts into the terminal's size and answers keys: arrows and pages scroll, `?` helps, `q` leaves. */
export function Screen({ partsOf, colours, help, onLeave, onSight, size: fixed }: ScreenProps): ReactNode {
  const terminal = useSize();
  const { columns, rows } = fixed ?? terminal;
  const [first, setFirst] = useState(0);
  const [helping, setHelping] = useState(false);
  const parts = partsOf(columns);
  // One line less than the terminal has: a full one would scroll.
  const height = Math.max(1, rows - 2 - parts.head.length - parts.foot.length);
  const window = moveWindow({ first, height }, 0, parts.count);
  useEffect(() => onSight?.({ first: window.first, height }), [onSight, window.first, height]);
  useInput((input, key) => {
    if (input === 'q' || (key.ctrl && input === 'c')) return onLeave();
    if (input === '?') return setHelping((shown) => !shown);
    const far = parts.count;
    const by = key.upArrow || input === 'k' ? -1 : key.downArrow || input === 'j' ? 1 : 0;
    const page = key.pageUp ? -height : key.pageDown || input === ' ' ? height : 0;
    const end = input === 'g' ? -far : input === 'G' ? far : 0;
    const move = by + page + end;
    if (move !== 0) setFirst(moveWindow(window, move, parts.count).first);
  });
  const shown = helping ? help.map((text): Line => ({ text, tone: 'plain' })) : parts.rows(window);
  const place = helping ? '' : windowText(window, parts.count);
  const keys = `q leave · ↑↓ PgUp PgDn scroll · ? help${place === '' ? '' : ` · ${place}`}`;
  return (
    <Box flexDirection="column" width={columns} height={rows - 1} overflow="hidden">
      <Lines lines={parts.head} colours={colours} />
      <Box flexDirection="column" height={height} flexShrink={0} overflow="hidden">
        <Lines lines={inSight(shown, { first: 0, height })} colours={colours} />
      </Box>
      <Lines lines={parts.foot} colours={colours} />
      <Lines lines={[{ text: keys, tone: 'dim' }]} colours={colours} />
    </Box>
  );
}

function Lines({ lines, colours }: { readonly lines: readonly Line[]; readonly colours: boolean }): ReactNode {
  return lines.map(({ text, tone }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
    <Text key={at} wrap="truncate" {...(colours ? COLOURS[tone] : {})}>
      {text === '' ? ' ' : text}
    </Text>
  ));
}

/** The terminal's size, also after it was changed. */
function useSize(): { columns: number; rows: number } {
  const { stdout } = useStdout();
  const read = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const [size, setSize] = useState(read);
  useEffect(() => {
    const changed = () => setSize(read());
    stdout.on('resize', changed);
    return () => void stdout.off('resize', changed);
  });
  return size;
}

/**
 * Takes the terminal over until `close`: another screen, keys without echo. `close` gives it back as it was, whatever ended the
 * watch, and so does the end of the program.
 */
export function openScreen({ stdin, stdout }: Terminal, view: ReactNode): { close: () => void } {
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    process.off('exit', close);
    app.unmount();
    stdout.write(LEAVE);
  };
  stdout.write(ENTER);
  const app = render(view, {
    stdin,
    stdout,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: FRAMES_A_SECOND, // whole frames: Ink's incremental ones end up a line too low and show lines twice
  });
  process.once('exit', close);
  return { close };
}
