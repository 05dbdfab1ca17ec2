import { newWakes } from '../../../db/wakes.ts'

/** The outbox: a message that was just taken need not wait for the next look. */
export const { on: onWake, wake: wakeOutbox } = newWakes()
