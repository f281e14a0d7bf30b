import { namedBatchText, type Ramp } from '../batch-order.ts';
import type { RolloutRuleInput } from './rollout-rule-input.ts';
import { type Violation, violation } from './violation.ts';

const wrong = (code: string, field: string, message: string) => violation('range', code, field, message);

function canaries({ strategy, order, canarySize }: RolloutRuleInput): Violation[] {
  const { canary_node_ids: ids, canary_selector: selector } = order;
  const given = [...(ids ? ['canary_node_ids'] : []), ...(selector ? ['canary_selector'] : [])];
  if (strategy !== 'canary') {
    return given.map((field) =>
      wrong('canary_order_without_canaries', field, `${field} is for the canary strategy, not for ${strategy}.`),
    );
  }
  if (ids && selector) {
    const message = 'Canaries are named by canary_node_ids or drawn by canary_selector: leave one of them out.';
    return [wrong('canaries_given_twice', 'canary_selector', message)];
  }
  if (!ids || canarySize === null || canarySize === 1 || canarySize === new Set(ids).size) return [];
  const message = `canary_size is ${canarySize} and canary_node_ids names ${new Set(ids).size}: leave canary_size out.`;
  return [wrong('canary_size_beside_ids', 'canary_size', message)];
}

function batches({ strategy, order: { batches } }: RolloutRuleInput): Violation[] {
  if (batches === undefined) return [];
  if (strategy === 'all_at_once') {
    return [wrong('batches_without_order', 'batches', 'all_at_once has one batch: leave batches out.')];
  }
  return batches.flatMap((batch, position) => {
    const field = `batches.${position}`;
    if (batch.count !== undefined && batch.percent !== undefined) {
      return [wrong('batch_size_given_twice', `${field}.percent`, `${field} has count and percent: leave one out.`)];
    }
    const same = batches.findIndex((other) => namedBatchText(other) === namedBatchText(batch));
    const all = batch.count === undefined && batch.percent === undefined;
    if (!all || same === position) return [];
    return [wrong('batch_named_twice', field, `${field} names the nodes that batches.${same} takes: leave it out.`)];
  });
}

function rampField({ start, factor, max }: Ramp): Violation[] {
  const found: Violation[] = [];
  if (!Number.isInteger(start) || start < 1) {
    found.push(wrong('ramp_out_of_range', 'ramp.start', `ramp.start is ${start}: a whole number of at least 1.`));
  }
  if (!(factor > 1 && factor <= 100)) {
    found.push(wrong('ramp_out_of_range', 'ramp.factor', `ramp.factor is ${factor}: more than 1, at most 100.`));
  }
  if (max !== undefined && (!Number.isInteger(max) || max < start)) {
    found.push(wrong('ramp_out_of_range', 'ramp.max', `ramp.max is ${max}: a whole number, not below ramp.start.`));
  }
  return found;
}

function ramp({ strategy, batchSize, order: { ramp } }: RolloutRuleInput): Violation[] {
  if (ramp === undefined) return [];
  if (strategy === 'all_at_once') {
    return [wrong('ramp_without_order', 'ramp', 'all_at_once has one batch: leave ramp out.')];
  }
  if (batchSize !== 1) {
    const message = `batch_size is ${batchSize} and ramp says how batches grow: leave one of them out.`;
    return [wrong('ramp_beside_batch_size', 'ramp', message)];
  }
  return rampField(ramp);
}

/** Parts of an order that can't go together, each by the field that is to blame (field-case 88). */
export function orderMakesSense(input: RolloutRuleInput): Violation[] {
  return [...canaries(input), ...batches(input), ...ramp(input)];
}
