/** Where a real Temporal server is, or the program that runs one (`temporal` CLI or our temporal-dev-server). */
export type TemporalSource = { kind: 'address'; address: string } | { kind: 'program'; path: string };
export function ensureTemporal(): Promise<TemporalSource>;
