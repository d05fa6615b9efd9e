import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { OpenTraces } from '../../../src/feeds/traces/open-traces.ts'
import type { ProjectTraces, TraceSettings } from '../../../src/feeds/traces/project-traces.ts'
import { sharedTraces } from '../../../src/cluster/postgres/shared-traces.ts'
import type { SpanTable } from '../../../src/cluster/postgres/span-table.ts'
import { NOON } from '../../support/values/make-span.ts'

/** A project folder with traces in it, and what was told of troubles. */
export interface TraceProject {
  readonly folder: string
  readonly file: string
  /** Whether traces are there after they were closed. */
  readonly isKept: boolean
  readonly open: OpenTraces
  readonly traces: ProjectTraces
  readonly troubles: string[]
  /** Another process's view of the same folder, with other settings if need be. */
  another(others?: Partial<TraceSettings>): { readonly open: OpenTraces; readonly traces: ProjectTraces }
  stop(): Promise<void>
}

/** Makes one in a temporary folder, or in a table under the folder's name; it is an hour past noon there. */
export function traceProject(
  settings: Partial<TraceSettings> = {},
  openTable: () => SpanTable | undefined = () => undefined,
  fs = nodeFs,
): TraceProject {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-traces-'))
  const troubles: string[] = []
  const opened: OpenTraces[] = []
  const another: TraceProject['another'] = (others = {}) => {
    const table = openTable()
    const open = new OpenTraces(
      {
        isRecording: true,
        retention: { maxAgeDays: 30, maxBytes: 1024 ** 3 },
        queryMs: 5000,
        now: () => new Date(NOON + 3_600_000),
        onTrouble: ({ message }) => troubles.push(message),
        ...settings,
        ...others,
      },
      table && sharedTraces(table),
    )
    opened.push(open)
    return { open, traces: open.of({ store: { folder, fs } }) }
  }
  return {
    folder,
    file: join(folder, 'traces.db'),
    isKept: fs.isSeenByOthers,
    ...another(),
    troubles,
    another,
    stop: async () => {
      await Promise.all(opened.map((open) => open.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
