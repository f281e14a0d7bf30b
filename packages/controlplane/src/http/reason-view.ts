import type { ReasonView } from '@hoodcloud/contracts/http/common';
import { REASONS, type Reason, type ReasonCode, sentenceOf } from '@hoodcloud/domain/reasons';

/** A reason as people and programs read it. */
export function reasonView({ code, params }: Pick<Reason, 'code' | 'params'>): ReasonView {
  return { code, params: { ...params }, sentence: sentenceOf({ code, params }), severity: REASONS[code].severity };
}

/** A reason from its two columns; null when there is none, or its code is of a newer or older version than ours. */
export function storedReason(code: string | null, params: unknown): ReasonView | null {
  if (code === null || !isReasonCode(code)) return null;
  return reasonView({ code, params: (params ?? {}) as Reason['params'] });
}

/** Reasons from a jsonb column of `Reason[]`. */
export function storedReasons(column: unknown): ReasonView[] {
  if (!Array.isArray(column)) return [];
  return column.flatMap((item: { code?: unknown; params?: unknown }) => {
    const view = typeof item?.code === 'string' ? storedReason(item.code, item.params) : null;
    return view ? [view] : [];
  });
}

function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(REASONS, code);
}
