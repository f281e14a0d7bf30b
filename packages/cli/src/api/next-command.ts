/** The command that helps after a refusal, by the problem's code; what has none here is answered by its status. */
const BY_CODE: Readonly<Record<string, string>> = {
  rollout_active: 'hoodctl rollout list --status running   (or wait for it: hoodctl rollout status latest --watch)',
  control_refused: 'hoodctl rollout status ID   ("Possible" names what can be ordered now)',
  illegal_transition: 'look at it again: hoodctl rollout status ID',
  plan_changed: 'read what changed and save a plan again: hoodctl rollout plan … --save',
  plan_expired: 'save a plan again: hoodctl rollout plan … --save',
  plan_started: 'hoodctl rollout list',
  node_name_taken: 'hoodctl node list --name NAME',
  api_key_name_taken: 'hoodctl api-key list',
  scope_granted_already: 'hoodctl grant list',
  rollout_not_found: 'hoodctl rollout list',
  rollout_node_not_found: 'hoodctl rollout nodes ID',
  rollout_group_not_found: 'hoodctl group list',
  node_not_found: 'hoodctl node list',
  component_not_found: 'hoodctl node show NODE',
  incident_not_found: 'hoodctl incident list',
  api_key_not_found: 'hoodctl api-key list',
  plan_not_found: 'hoodctl plan list',
};

const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'mend what is named above; what a command takes: hoodctl COMMAND --help',
  401: 'hoodctl login --url URL   (the key is unknown or was revoked)',
  403: 'ask an admin for a key with that scope: hoodctl api-key create NAME --scope SCOPE',
  404: 'see what there is: hoodctl rollout list, hoodctl node list, hoodctl group list',
  409: 'look at it again, then decide: hoodctl rollout status ID, hoodctl group status ID',
  412: 'somebody changed it meanwhile; look at it again: hoodctl rollout status ID',
  413: 'send less at once',
  422: 'mend what is named above, then look before you start: hoodctl rollout plan --help',
  429: 'wait a minute, then try again',
};

/** What to do next; every refusal has an answer. */
export function nextCommand(status: number, code: string): string {
  return BY_CODE[code] ?? BY_STATUS[status] ?? 'try again in some seconds; if it stays, read the log of the role "api"';
}
