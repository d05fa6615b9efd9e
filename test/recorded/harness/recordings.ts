import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTwoFilesPatch } from 'diff'
import { readApiDocument } from '../../support/clients/api-document.ts'
import { type Recording, runScenario } from './run-scenario.ts'
import type { Scenario, ServerKind } from './scenario.ts'
import { type RecordedServer, startRecordedReceiver, startRecordedServer } from './servers.ts'

const FOLDER = fileURLToPath(new URL('../../../../test/recorded/answers/', import.meta.url))

/** Each scenario has a project of its own, so several can run at the same time. */
const SCENARIOS_AT_ONCE = 4

/** What a scenario answered now. */
export interface Played {
  readonly scenario: Scenario
  readonly recordings: readonly Recording[]
  /** Why it ended early. */
  readonly failure: unknown
  readonly ms: number
}

/** Runs the scenarios on as few servers as they need; each is handed over as it ends. */
export async function playAll(scenarios: readonly Scenario[], take: (played: Played) => void): Promise<void> {
  const servers = new Map<ServerKind, Promise<RecordedServer>>()
  const receiver = await startRecordedReceiver()
  const serverOf = (kind: ServerKind): Promise<RecordedServer> => {
    const server = servers.get(kind) ?? startRecordedServer(kind)
    servers.set(kind, server)
    return server
  }
  try {
    const document = await readApiDocument((await serverOf('plain')).url)
    const waiting = [...scenarios]
    const work = async (): Promise<void> => {
      for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
        const began = performance.now()
        let recordings: readonly Recording[] = []
        let failure: unknown
        try {
          recordings = await runScenario(
            scenario,
            await serverOf(scenario.server ?? 'plain'),
            receiver,
            document,
          )
        } catch (error) {
          failure = error
        }
        take({ scenario, recordings, failure, ms: performance.now() - began })
      }
    }
    await Promise.all(Array.from({ length: SCENARIOS_AT_ONCE }, work))
  } finally {
    receiver.stop()
    await Promise.all([...servers.values()].map(async (server) => (await server).stop()))
  }
}

/** Keeps what a scenario answered. */
export function keep({ name }: Scenario, recordings: readonly Recording[]): void {
  writeFileSync(fileOf(name), fileText(recordings))
}

/** Removes recordings of scenarios that are gone. */
export function removeOthers(scenarios: readonly Scenario[]): void {
  const names = new Set(scenarios.map(({ name }) => `${name}.json`))
  for (const file of readdirSync(FOLDER)) if (!names.has(file)) rmSync(join(FOLDER, file))
}

/** What differs from the recording, in lines that a person reads; undefined where nothing does. */
export function differenceFrom({ scenario, recordings, failure }: Played): string | undefined {
  if (failure !== undefined) return failure instanceof Error ? failure.message : String(failure)
  const file = fileOf(scenario.name)
  if (!existsSync(file)) return `there is no recording of ${scenario.name}: npm run record`
  const before = stepsOf(readFileSync(file, 'utf8'))
  const now = new Map(recordings.map(({ title, text }) => [title, text]))
  const titles = [...new Set([...before.keys(), ...now.keys()])]
  const parts = titles.flatMap((title) => {
    const [was, is] = [before.get(title), now.get(title)]
    if (was === is) return []
    if (was === undefined) return [`"${title}" is not in the recording`]
    if (is === undefined) return [`"${title}" is in the recording, but no step of the scenario`]
    const patch = createTwoFilesPatch('recorded', 'now', `${was}\n`, `${is}\n`, '', '', { context: 2 })
    return [`"${title}":\n${patch.split('\n').slice(3).join('\n')}`]
  })
  if (parts.length === 0) return undefined
  const rest = parts.length > MOST_SHOWN ? `\n… and ${parts.length - MOST_SHOWN} steps more` : ''
  return `${scenario.name}: ${parts.length} of ${titles.length} steps differ\n\n${parts.slice(0, MOST_SHOWN).join('\n')}${rest}`
}

const MOST_SHOWN = 8

/** A step of a recording, as a reader of JSON has it. */
export interface KeptStep {
  readonly scenario: string
  readonly step: string
  readonly request?: string
  /** What git was called with, and how it ended. */
  readonly git?: string
  readonly exit?: number
  /** What `GET /events` told. */
  readonly events?: readonly unknown[]
  readonly status?: number
  readonly answer?: { readonly code?: string } | string | null
}

/** Every step that is recorded; each request of a step of refusals is one. */
export function keptSteps(): readonly KeptStep[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const steps = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as readonly WrittenStep[]
      const scenario = name.replace(/\.json$/, '')
      return steps.flatMap(({ refusals = {}, ...step }) => [
        { ...step, scenario },
        ...Object.entries(refusals).map(([what, { request, status, code }]) => ({
          scenario,
          step: `${step.step}: ${what}`,
          request,
          status,
          answer: code === undefined ? null : { code },
        })),
      ])
    })
}

type WrittenStep = Omit<KeptStep, 'scenario'> & {
  readonly refusals?: Readonly<
    Record<string, { readonly request: string; readonly status: number; readonly code?: string }>
  >
}

function fileOf(name: string): string {
  return join(FOLDER, `${name}.json`)
}

function fileText(recordings: readonly Recording[]): string {
  return `[\n${recordings.map(({ text }) => text).join(',\n')}\n]\n`
}

/** Each begins at the start of a line with an object, since what is in it is further in. */
function stepsOf(text: string): ReadonlyMap<string, string> {
  const inner = text.replace(/^\[\n/, '').replace(/\n\]\n$/, '')
  const steps = inner.split(/,\n(?=\{)/)
  return new Map(steps.map((step) => [(JSON.parse(step) as { readonly step: string }).step, step]))
}
