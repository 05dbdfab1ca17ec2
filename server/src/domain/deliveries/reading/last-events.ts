export { lastEvents, type RareType } from './last-events.sql.ts'
