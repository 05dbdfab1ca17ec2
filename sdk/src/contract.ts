/**
 * The types of the contract that the SDK exports. The build writes them out in full, so that the published package has no
 * dependencies.
 */
export type { ErrorCode, ErrorType } from '@parley/contract/errors'
export type {
  Event,
  EventOf,
  EventType,
  FlowFile,
  FlowSubmission,
  MessageError,
  MessageStatusData,
} from '@parley/contract/events'
export type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
export type { FlowResponse, FlowResponseFilters } from '@parley/contract/flow-response'
export type {
  EchoedMessage,
  InboundLocation,
  InboundMedia,
  InboundMessage,
  InReplyTo,
  Reply,
} from '@parley/contract/inbound'
export type { InboundMessageFilters, MarkAsRead, StoredInboundMessage } from '@parley/contract/inbound-message'
export type { Me } from '@parley/contract/key'
export type { Media } from '@parley/contract/media'
export type {
  Message,
  MessageFilters,
  MessageStatus,
  MessageStep,
  MessageWithHistory,
} from '@parley/contract/message'
export type { NetworkUpdateData } from '@parley/contract/network-update'
export type { List, PageQuery } from '@parley/contract/page'
export type { Scope } from '@parley/contract/scopes'
export type {
  SendContact,
  SendLocation,
  SendReaction,
  SendRequest,
  SendTemplate,
  SendText,
  SendType,
} from '@parley/contract/send'
export type { SendInteractive } from '@parley/contract/send-interactive'
export type { Sender } from '@parley/contract/sender'
export type {
  ContactPreferenceData,
  ControlChangedData,
  CreditsLowData,
  HistoryImportedData,
  SenderStatusData,
  TemplateStatusData,
  WebhookDisabledData,
} from '@parley/contract/service-events'
export type { Template, TemplateFilters, TemplateFlow, TemplateVariable } from '@parley/contract/template'
export type { Webhook } from '@parley/contract/webhook'
