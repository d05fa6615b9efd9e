import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { OpenTraces } from '../../../src/feeds/traces/open-traces.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'

/**
 * Records more than its disk takes into the folder it is given, and writes what it saw as JSON: which traces it could read back, and
 * what it was told.
 */
const [, , folder = ''] = process.argv
const troubles: string[] = []
const open = new OpenTraces({
  isRecording: true,
  retention: { maxAgeDays: 30, maxBytes: 1024 ** 3 },
  queryMs: 5000,
  now: () => new Date(NOON),
  onTrouble: ({ message }) => troubles.push(message),
})
const traces = open.of({ store: { folder, fs: nodeFs } })
const stored: string[] = []
for (let round = 0; open.problems().length === 0 && round < 100; round++) {
  const small = makeSpan()
  traces.record([small, spanWith({ inputs: 'x'.repeat(50_000) })])
  if ((await traces.read([small.traceId])).length > 0) stored.push(small.traceId)
}
// What could not be stored may fit in after a checkpoint; this never does.
traces.record([spanWith({ inputs: 'x'.repeat(2_000_000) })])
const reason = open.problems()[0]?.reason
await traces.read(stored)
await open.close()
process.stdout.write(JSON.stringify({ stored, reason, troubles }))
