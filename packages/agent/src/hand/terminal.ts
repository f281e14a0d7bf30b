import { createInterface } from 'node:readline/promises';

/** Where a command of the agent speaks. */
export interface Terminal {
  /** The answer itself, for people or programs. */
  readonly out: (text: string) => void;
  /** What goes on meanwhile. */
  readonly note: (text: string) => void;
  /** A person's answer; null when there is nobody to ask. */
  readonly ask: (question: string) => Promise<string | null>;
}

/** The terminal that the program was started in. */
export const processTerminal: Terminal = {
  out: (text) => console.log(text),
  note: (text) => console.error(text),
  ask: async (question) => {
    if (!process.stdin.isTTY) return null;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
};
