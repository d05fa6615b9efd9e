import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Papa from 'papaparse'
import { judgeSoak } from './soak/judge-soak.ts'
import { runSoak } from './soak/load/run-soak.ts'
import { sampleLine } from './soak/sample-line.ts'
import { soakTable } from './soak/soak-table.ts'

/**
 * `npm run proof -- soak`: half an hour of mixed load on a server of its own, with memory, file descriptors and event-loop delay every five seconds.
 * Prints a table and whether all that stayed flat (see judgeSoak); `--csv FILE` keeps the samples for a plotter, `--json FILE` the verdict too. Ends with 1 if
 * something was not flat.
 */
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    csv: { type: 'string' },
    json: { type: 'string' },
  },
})
const seconds = Number(options.minutes) * 60
if (!(seconds >= 1))
  throw new Error(`--minutes ${options.minutes} is no time; say how many, as in --minutes 30`)
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-soak-'))
try {
  const soak = await runSoak({
    storeDir: join(folder, 'store'),
    seconds,
    // A few hundred samples of half an hour, and no fewer than twenty of a minute.
    every: Math.min(5, Math.max(seconds / 300, 0.25)),
    onSample: (sample, problems) => process.stderr.write(sampleLine(sample, { seconds, problems })),
  })
  process.stderr.write('\n')
  const findings = judgeSoak(soak)
  process.stdout.write(`${soakTable(soak)}\n\n`)
  for (const problem of soak.problems.slice(0, 10)) process.stdout.write(`  ${problem}\n`)
  process.stdout.write(findings.length === 0 ? 'flat\n' : `not flat: ${findings.join('; ')}\n`)
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ ...soak, findings }, undefined, 1)}\n`)
  if (options.csv !== undefined) writeFileSync(options.csv, Papa.unparse([...soak.samples]))
  if (findings.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
