#!/usr/bin/env node
// The entry point of every npm script. Uses only old syntax, so that an old Node prints a message instead of a syntax error.
import process from 'node:process'

const oldest = 20

if (Number(process.versions.node.split('.')[0]) < oldest) {
  console.error(`Parley needs Node ${oldest} or later. This is Node ${process.versions.node} (${process.execPath}).`)
  process.exitCode = 1
} else {
  const [, , name, ...args] = process.argv
  import('./launch.mjs')
    .then(({ launch }) => launch(name, args))
    .catch((error) => {
      console.error(error.message)
      process.exitCode = 1
    })
}
