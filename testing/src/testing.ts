export type { EndpointHandler, EndpointOptions, TestEndpoint } from './endpoint.ts'
export type { Phone, PhoneMessage } from './phone.ts'
export { type StartOptions, startParley, type TestParley } from './start-parley.ts'
