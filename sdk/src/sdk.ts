/** The exports of `@parley/sdk`. */
export { Parley, type ParleyOptions } from './client.ts'
export type * from './contract.ts'
export { type ClientFault, CursorExpiredError, ParleyError, type ParleyErrorCode } from './error.ts'
export type { CursorStore, EventPage, EventQuery, Events, FollowOptions, StreamOptions } from './events.ts'
export type { FlowResponseQuery, FlowResponses, UploadedFile } from './flow-responses.ts'
export type { InboundMessageQuery, InboundMessages } from './inbound-messages.ts'
export type { MediaFiles, UploadOptions } from './media.ts'
export type {
  BatchMessage,
  BatchOptions,
  BatchResult,
  MessageQuery,
  Messages,
  Outgoing,
  SendOptions,
} from './messages.ts'
export type { Pages } from './pages.ts'
export { newSeenEvents, type SeenEvents } from './seen.ts'
export type { Senders } from './senders.ts'
export type { Templates } from './templates.ts'
export type { CallOptions } from './transport.ts'
export {
  type ParleyEvent,
  type UnknownEvent,
  type VerifyOptions,
  verifyWebhook,
  type WebhookFault,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify.ts'
export { version } from './version.ts'
