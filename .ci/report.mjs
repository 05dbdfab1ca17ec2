// Prints what a test run took: `node .ci/report.mjs results.json CPU-SECONDS`. Ends with 1 if it took longer than it may.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const limitMinutes = 10
const [, , file, cpuSeconds] = process.argv
const { startTime, testResults, numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(file, 'utf8'),
)
const minutes = (Math.max(...testResults.map(({ endTime }) => endTime)) - startTime) / 60_000

const seconds = ({ startTime: began, endTime }) => (endTime - began) / 1000
console.log('\nThe slowest test files, in seconds:')
for (const each of testResults.sort((a, b) => seconds(b) - seconds(a)).slice(0, 10)) {
  console.log(`${seconds(each).toFixed(1).padStart(7)}  ${relative('.', each.name)}`)
}
console.log(`Tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
console.log(`They took ${minutes.toFixed(1)} minutes and, with the installation, ${cpuSeconds} CPU seconds.`)
if (minutes > limitMinutes) {
  console.log(`TOO SLOW: they may take ${limitMinutes} minutes.`)
  process.exitCode = 1
}
