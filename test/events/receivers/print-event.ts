/** What a receiver had, as its program prints it. */
export interface ReceivedEvent {
  readonly seq: number;
  readonly rollout_id: string;
  /** By which a receiver knows an event that it had already. */
  readonly id: string;
}

/** Prints an event as one line; other lines of a receiver don't begin with a brace. */
export function printEvent(event: { seq: number; rollout_id: string }, id: string): void {
  process.stdout.write(`${JSON.stringify({ seq: event.seq, rollout_id: event.rollout_id, id })}\n`);
}

/** Reads what a receiver's program printed so far. */
export function readPrinted(log: string): ReceivedEvent[] {
  const lines = log.slice(0, log.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}
