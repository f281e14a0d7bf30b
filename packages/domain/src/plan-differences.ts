/** One node as a plan saw it. */
export interface PlanNodeFacts {
  readonly name: string;
  /** Null: nobody has named what runs on it. */
  readonly version: string | null;
  /** What the agent saw running; null: nothing, or nobody has told. */
  readonly running: string | null;
  /** Null: it is upgraded; else why not. */
  readonly leftOut: { readonly code: string; readonly sentence: string } | null;
  /** By path: the hash of what would be written, and of what the agent saw there (null: never told). */
  readonly configs: Readonly<Record<string, { readonly planned: string; readonly now: string | null }>>;
}

/** Everything a plan rests on. Names are those of the API's fields. */
export interface PlanFacts {
  readonly upgrade: Readonly<Record<string, string | number | boolean | null>>;
  /** By node id. */
  readonly nodes: Readonly<Record<string, PlanNodeFacts>>;
}

export interface PlanDifference {
  /** The field of the upgrade, or the node's name. */
  readonly field: string;
  readonly code: 'upgrade_changed' | 'node_added' | 'node_gone' | 'node_changed' | 'config_changed';
  /** A sentence. */
  readonly message: string;
}

/** Everything that is not as it was when a plan was saved, each in a sentence; empty: the plan still holds. */
export function planDifferences(saved: PlanFacts, now: PlanFacts): PlanDifference[] {
  return [...upgradeDifferences(saved.upgrade, now.upgrade), ...nodeDifferences(saved.nodes, now.nodes)];
}

function upgradeDifferences(saved: PlanFacts['upgrade'], now: PlanFacts['upgrade']): PlanDifference[] {
  return keysOf(saved, now).flatMap((field) => {
    const [was, is] = [saved[field] ?? null, now[field] ?? null];
    if (was === is) return [];
    return [{ field, code: 'upgrade_changed', message: `${field} was ${shown(was)} and is ${shown(is)} now.` }];
  });
}

function nodeDifferences(saved: PlanFacts['nodes'], now: PlanFacts['nodes']): PlanDifference[] {
  const nameOf = (id: string) => now[id]?.name ?? saved[id]?.name ?? id;
  const ids = keysOf(saved, now).sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  return ids.flatMap((id): PlanDifference[] => {
    const [was, is] = [saved[id], now[id]];
    if (was && is) return oneNode(was, is);
    if (is) {
      const message = `${is.name} has come since and is not in the plan.`;
      return [{ field: is.name, code: 'node_added', message }];
    }
    const name = nameOf(id);
    return [{ field: name, code: 'node_gone', message: `${name} is gone, or not of this chain and type any more.` }];
  });
}

function oneNode(was: PlanNodeFacts, is: PlanNodeFacts): PlanDifference[] {
  const { name } = is;
  const said = (message: string): PlanDifference => ({ field: name, code: 'node_changed', message });
  const found: PlanDifference[] = [];
  if (was.version !== is.version) {
    found.push(said(`${name} had ${shown(was.version)} and has ${shown(is.version)} now.`));
  } else if (was.running !== is.running) {
    found.push(said(`${name} runs another program than then (${shown(was.running)}, now ${shown(is.running)}).`));
  }
  if (was.leftOut?.code !== is.leftOut?.code) found.push(said(eligibilityChange(was, is)));
  return [...found, ...configDifferences(was, is)];
}

function eligibilityChange({ leftOut: was }: PlanNodeFacts, { name, leftOut: is }: PlanNodeFacts): string {
  if (is === null) return `${name} was left out (${was?.sentence}) and could be upgraded now.`;
  if (was === null) return `${name} was to be upgraded and would be left out now: ${is.sentence}`;
  return `${name} is left out for another reason: ${is.sentence}`;
}

function configDifferences(was: PlanNodeFacts, is: PlanNodeFacts): PlanDifference[] {
  const said = (message: string): PlanDifference => ({ field: is.name, code: 'config_changed', message });
  return keysOf(was.configs, is.configs).flatMap((path) => {
    const [before, after] = [was.configs[path], is.configs[path]];
    const found: PlanDifference[] = [];
    if (before?.planned !== after?.planned) found.push(said(`${path} would be written otherwise on ${is.name}.`));
    if ((before?.now ?? null) !== (after?.now ?? null)) found.push(said(`${path} was changed on ${is.name} since.`));
    return found;
  });
}

function keysOf(one: object, other: object): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
}

function shown(value: string | number | boolean | null): string {
  return value === null || value === '' ? 'unknown' : String(value);
}
