import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { OpenTraces } from '../../../src/feeds/traces/open-traces.ts'
import { NOON } from '../../support/values/make-span.ts'

/** Brings the traces of the folder that it is given over, to be killed in the midst of it. */
const [, , folder = ''] = process.argv
const open = new OpenTraces({
  isRecording: true,
  retention: { maxAgeDays: 30, maxBytes: 1024 ** 3 },
  queryMs: 5000,
  now: () => new Date(NOON),
  onTrouble: ({ message }) => process.stderr.write(`${message}\n`),
})
await open.of({ store: { folder, fs: nodeFs } }).retain()
await open.close()
