#!/usr/bin/env node
import { run } from './run.mjs'

try {
  await run('parley', process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
