/** Messages and enums of `hoodcloud.agent.v1`, generated from proto/hoodcloud/agent/v1/agent.proto. */
export * from './gen/hoodcloud/agent/v1/agent_pb.js';
