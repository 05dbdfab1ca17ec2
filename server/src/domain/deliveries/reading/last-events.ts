export { lastEvents } from './find-events.sql.ts'
