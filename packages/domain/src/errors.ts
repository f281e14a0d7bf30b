/** An expected refusal with a stable code; carries a sentence that the operator reads. */
export class DomainError extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.details = details;
  }
}

/** A status may not follow another one (the table of that state machine says so). */
export class IllegalTransitionError extends DomainError {
  constructor(machine: string, from: string, to: string, legal: readonly string[]) {
    const may = legal.length > 0 ? `may become ${legal.join(', ')}` : 'is final';
    super('illegal_transition', `${machine} can't go from ${from} to ${to}: ${from} ${may}`, { machine, from, to });
  }
}
