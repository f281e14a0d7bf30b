import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import { InvalidArgumentError } from 'commander';

type Labels = Readonly<Record<string, string>>;
type Batches = NonNullable<CreateRolloutInput['batches']>;

/** `zone=eu`, added to those given before. */
export function labels(text: string, before: Labels = {}): Labels {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be label=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** `zone=eu`, `zone=eu:2` or `zone=eu,tier=1:50%`, added to the batches given before. */
export function namedBatch(text: string, before: Batches = []): Batches {
  const [, selector = '', size] = /^(.*?)(?::(\d+(?:\.\d+)?%?))?$/.exec(text) ?? [];
  const selected = selector.split(',').reduce<Labels>((found, label) => labels(label, found), {});
  if (size === undefined) return [...before, { selector: { labels: selected } }];
  const percent = size.endsWith('%');
  const value = Number(percent ? size.slice(0, -1) : size);
  if (!percent && !Number.isInteger(value)) throw new InvalidArgumentError('A batch has whole nodes: 2, or 50%.');
  return [...before, { selector: { labels: selected }, ...(percent ? { percent: value } : { count: value }) }];
}

/** `1:2:50`: start with 1, twice as many each time, at most 50; the last may be left out. */
export function ramp(text: string): NonNullable<CreateRolloutInput['ramp']> {
  const [, start, factor, max] = /^(\d+):(\d+(?:\.\d+)?)(?::(\d+))?$/.exec(text) ?? [];
  if (start === undefined || factor === undefined) {
    throw new InvalidArgumentError('It must be start:factor or start:factor:max, e.g. 1:2:50.');
  }
  return { start: Number(start), factor: Number(factor), ...(max !== undefined && { max: Number(max) }) };
}

type FailureClasses = NonNullable<CreateRolloutInput['failure_classes']>;

/** `artifact=0`, added to the classes given before; a class that is not named has the server's default. */
export function borne(text: string, before: FailureClasses = {}): FailureClasses {
  const [, kind, count] = /^(artifact|infrastructure|state)=(\d+)$/.exec(text) ?? [];
  if (kind === undefined) throw new InvalidArgumentError('It must be artifact=n, infrastructure=n or state=n.');
  return { ...before, [kind]: Number(count) };
}
