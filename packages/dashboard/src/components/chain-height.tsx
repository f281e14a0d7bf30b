import type { ChainView } from '@hoodcloud/contracts/http/chains';
import { Ago } from './ago.tsx';
import { StatusMark } from './status-mark.tsx';

/** The best height of a chain's nodes and when it last grew; a chain that stands longer than it should says so (D4a). */
export function ChainHeight({ chain }: { readonly chain: ChainView }) {
  const { best_height: height, height_grew_at: at, halted } = chain;
  if (height === null) return <>unknown: no node has told one</>;
  return (
    <>
      {halted && <StatusMark status="critical" text="halted at " />}
      {height.toLocaleString('en')}, grew <Ago at={at} />
    </>
  );
}
