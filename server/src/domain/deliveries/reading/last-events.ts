export { lastEvents, type SenderEvent, senderEvents } from './find-events.sql.ts'
