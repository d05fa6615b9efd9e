import { useRoute } from '../../api/use-route.ts'
import { addressOf, type Answer } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { ApiLines } from '../../parts/copy/api-lines.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { duration } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Facts, Lead } from './section.tsx'
import styles from './settings.module.css'
import { bytes } from '../../parts/text/text.tsx'

/** Refetched every five seconds. */
const AGAIN = { refetchInterval: 5000 }

const COMMANDS = [
  {
    label: 'Back up the project: every version of everything',
    text: `BRANCHPOINT_URL=${location.origin} ${COMMAND} backup --to ../backup --url`,
  },
  { label: "Look through the store for damage, on the server's machine", text: `${COMMAND} verify` },
]

/** The answer of `GET /ready` for a key with the scope read. */
interface Readiness {
  readonly status?: string
  readonly reason?: string
  readonly artifacts?: number
  readonly list_age_ms?: number
  readonly problems?: number
  readonly damaged?: readonly Readonly<Record<string, unknown>>[]
  readonly traces?: readonly Readonly<Record<string, unknown>>[]
}

/** The health of the server and its storage. */
export function Storage() {
  const refusal = useRefusal('read')
  const ready = useRoute('GET /ready', {}, AGAIN)
  const metrics = useRoute('GET /metrics', {}, { ...AGAIN, enabled: refusal === undefined })
  const project = useRoute('GET /projects/current', {}, { enabled: refusal === undefined })
  const mayNotMeasure = useRefusal('admin')
  const storage = useRoute(
    'GET /projects/current/storage',
    {},
    { enabled: refusal === undefined && mayNotMeasure === undefined },
  )
  const service = useRoute('GET /', {})
  const health = ready.data as unknown as Readiness | undefined
  const { version } = (service.data ?? {}) as unknown as { readonly version?: string }
  const values = metrics.data === undefined ? undefined : readMetrics(metrics.data)
  return (
    <>
      <Lead refusal={refusal}>Health of the server and its storage.</Lead>
      {ready.error && <Failure error={ready.error} retry={ready.refetch} />}
      {!health && !ready.error && <Skeleton label="Asking the server" lines={4} />}
      {health && (
        <Facts
          label="Health"
          facts={[
            [
              'Server',
              <span className={health.status === 'ready' ? 'good' : 'bad'}>
                {health.status ?? 'unknown'}
              </span>,
            ],
            ['Version', version ?? '–'],
            ['Prompts, testsets and others', number(health.artifacts)],
            [
              'Problems',
              <span className={health.problems === 0 ? 'good' : 'bad'}>{number(health.problems)}</span>,
            ],
            ['List delay', health.list_age_ms === undefined ? 'at most 2 s' : duration(health.list_age_ms)],
          ]}
        />
      )}
      <Wrong title="Damaged repositories" items={health?.damaged} />
      <Wrong title="Traces that cannot be stored" items={health?.traces} />
      {project.data && (
        <>
          <h2>Contents of the project {project.data.project.name}</h2>
          <Facts
            label="Counts"
            facts={COUNTED.map(([family, label]) => [label, number(project.data.project.counts[family])])}
          />
        </>
      )}
      <h2>Size</h2>
      {mayNotMeasure !== undefined && <p className="muted">{mayNotMeasure}</p>}
      {storage.error && <Failure error={storage.error} retry={storage.refetch} />}
      {storage.isPending && mayNotMeasure === undefined && <Skeleton label="Adding up the files" lines={3} />}
      {storage.data && <Facts label="Size" facts={sizesOf(storage.data.storage)} />}
      {metrics.error && <Failure error={metrics.error} retry={metrics.refetch} />}
      {values && (
        <>
          <h2>Activity</h2>
          <Facts
            label="Metrics"
            facts={METRICS.flatMap(({ name, label, show }) => {
              const value = values.get(name)
              return value === undefined ? [] : [[label, show(value)] as const]
            })}
          />
        </>
      )}
      <h2>Backup</h2>
      <p className="muted">
        One file with everything in this project, every version of it, but for keys, secrets and traces. It is
        made while it is downloaded.
      </p>
      <div>
        <Button needs="admin" onClick={() => download(addressOf('GET /projects/current/backup', {}))}>
          Download a backup
        </Button>
      </div>
      <ApiLines lines={COMMANDS} />
    </>
  )
}

function download(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

function Wrong({
  title,
  items = [],
}: {
  readonly title: string
  readonly items?: readonly Readonly<Record<string, unknown>>[] | undefined
}) {
  if (items.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className={styles.wrong}>
        {items.slice(0, 100).map((item, at) => (
          <li key={at}>{Object.values(item).map(String).join(' · ')}</li>
        ))}
      </ul>
    </section>
  )
}

/** The size of all files of the project, then of each part that has any. */
function sizesOf({ bytes: all, parts }: Sizes): readonly (readonly [string, string])[] {
  const sizes = PARTS.flatMap(([part, label]) => {
    const size = parts[part] ?? 0
    return size === 0 ? [] : [[label, bytes(size)] as const]
  })
  return [['All files of the project', bytes(all)], ...sizes]
}

type Sizes = Answer<'GET /projects/current/storage'>['storage']

const PARTS = [
  ['workflows', 'Prompts, evaluators and workflows'],
  ['testsets', 'Testsets'],
  ['environments', 'Environments'],
  ['queries', 'Queries'],
  ['traces', 'Traces'],
  ['evaluations', 'Evaluations'],
  ['index', 'Index and search'],
  ['others', 'Trash, uploads and others'],
] as const

/** Prompts and evaluators are workflows, too, which are not counted twice. */
const COUNTED = [
  ['applications', 'Prompts'],
  ['evaluators', 'Evaluators'],
  ['testsets', 'Testsets'],
  ['environments', 'Environments'],
  ['queries', 'Queries'],
] as const

function number(value: number | undefined): string {
  return value === undefined ? '–' : value.toLocaleString()
}

/** A metric shown here; all of them are in `GET /metrics` (docs/operations/metrics.md). */
interface ServerMetric {
  readonly name: string
  readonly label: string
  readonly show: (value: number) => string
}

const whole = (value: number): string => Math.round(value).toLocaleString()

const METRICS: readonly ServerMetric[] = [
  { name: 'branchpoint_commits_total', label: 'Versions and edits since the start', show: whole },
  { name: 'branchpoint_pushes_total', label: 'Pushes since the start', show: whole },
  { name: 'branchpoint_writes_waiting', label: 'Queued writes', show: whole },
  { name: 'branchpoint_http_requests_in_flight', label: 'Active requests', show: whole },
  { name: 'branchpoint_git_requests_running', label: 'Active clones and pushes', show: whole },
  { name: 'branchpoint_git_requests_waiting', label: 'Queued clones and pushes', show: whole },
  { name: 'branchpoint_webhook_deliveries_waiting', label: 'Queued webhook deliveries', show: whole },
  { name: 'branchpoint_trace_spans_waiting', label: 'Queued spans of traces', show: whole },
  { name: 'branchpoint_trace_spans_dropped_total', label: 'Lost spans of traces', show: whole },
  { name: 'branchpoint_scripts_running', label: 'Active scripts', show: whole },
  { name: 'process_resident_memory_bytes', label: 'Memory of the server', show: bytes },
]

/** The values of `GET /metrics` by name, summed over labels. */
function readMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})? (\S+)/.exec(line) ?? []
    if (name !== undefined) values.set(name, (values.get(name) ?? 0) + Number(value))
  }
  return values
}
