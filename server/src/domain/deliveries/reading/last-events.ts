export { lastEvents } from './last-events.sql.ts'
