/** Something this machine lacks; `advice` is the sentence that tells the reader what to do about it. */
export class SetupError extends Error {
  constructor(message, advice, options) {
    super(message, options);
    this.name = 'SetupError';
    this.advice = advice;
  }
}
