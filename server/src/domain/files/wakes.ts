import { newWakes } from '../../db/wakes.ts'

/** The fetcher: a file that was just announced need not wait for the next look. */
export const { on: onWake, wake: wakeFetcher } = newWakes()
