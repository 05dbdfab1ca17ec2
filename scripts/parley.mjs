#!/usr/bin/env node
// The `parley` command, run by `npx parley`.
import process from 'node:process'

process.argv.splice(2, 0, 'parley')
import('./run.mjs')
