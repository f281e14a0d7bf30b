import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** A node that two hosts claim to be is not touched until a person has cleared it (B3). */
export const nodeQuarantined: StartGate = ({ row }, { snapshot }) =>
  snapshot.fleet.get(row.nodeId)?.quarantined
    ? wait({ reason: reason('node_quarantined', { node: row.nodeId }) })
    : OPEN;
