export type { EndpointHandler, EndpointOptions, TestEndpoint } from './endpoint.ts'
export type { Phone, PhoneMessage, PlayOptions } from './phone-types.ts'
export type { Scenario } from './scenario.ts'
export { type StartOptions, startParley, type TestParley } from './start-parley.ts'
