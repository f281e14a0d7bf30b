import type { FleetRequest } from './fleet-process.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/** The program of a FleetProcess: it lives as long as its parent asks. */
let fleet: SimulatedFleet | null = null;

process.on('message', (request: FleetRequest) => {
  answer(request).then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

async function answer(request: FleetRequest): Promise<unknown> {
  if (request.ask === 'start') {
    fleet = new SimulatedFleet(request.options);
    return fleet.start();
  }
  if (fleet === null) throw new Error('the fleet was not started');
  if (request.ask === 'counts') return fleet.counts();
  if (request.ask === 'samples') return fleet.takeSamples();
  return Object.fromEntries(fleet.agents.map(({ nodeId, running }) => [nodeId, running]));
}
