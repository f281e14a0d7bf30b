import { parseArgs } from 'node:util';

/** What `npm run demo -- …` takes. */
export interface DemoArguments {
  /** Ends when the story has been told, instead of staying up until Ctrl-C. */
  readonly exit: boolean;
  /** Where the observations go as JSON; null: nowhere. */
  readonly report: string | null;
  /** Forgets what an earlier run left: chain, control plane, agents. */
  readonly reset: boolean;
  /** Shows the stand-in chain even where CometBFT could be built. */
  readonly standIn: boolean;
}

/** The command line is wrong; the message says what it takes. */
export class DemoUsageError extends Error {
  readonly code = 'demo_usage';
}

export const DEMO_USAGE = `npm run demo -- [--exit] [--report FILE] [--reset] [--stand-in]
  --exit         end when the story has been told, instead of staying up until Ctrl-C
  --report FILE  write what was observed as JSON
  --reset        forget what an earlier run left and begin anew
  --stand-in     use the small chain of our own even where Go could build CometBFT`;

/** @throws DemoUsageError for an unknown option */
export function parseDemoArguments(argv: readonly string[]): DemoArguments {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        exit: { type: 'boolean', default: false },
        report: { type: 'string' },
        reset: { type: 'boolean', default: false },
        'stand-in': { type: 'boolean', default: false },
      },
    });
    return { exit: values.exit, report: values.report ?? null, reset: values.reset, standIn: values['stand-in'] };
  } catch (cause) {
    throw new DemoUsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${DEMO_USAGE}`, { cause });
  }
}
