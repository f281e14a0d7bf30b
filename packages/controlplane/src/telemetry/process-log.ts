import { type DestinationStream, pino } from 'pino';
import type { Logger } from '../feature.ts';

/**
 * The process's log: one JSON object a line, with the error's stack under `err`.
 * @param destination left out: standard output
 */
export function processLog(
  level: string,
  base: Readonly<Record<string, string>>,
  destination?: DestinationStream,
): Logger {
  const options = { level, base: { ...base }, timestamp: pino.stdTimeFunctions.isoTime };
  return destination ? pino(options, destination) : pino(options);
}
