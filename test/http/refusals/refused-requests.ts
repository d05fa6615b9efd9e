import { expect } from 'chai'
import type { RunningService, ServiceOptions } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { type ByRepository, filesOf, snapshotOf } from './store-snapshot.ts'

/** How a refusal must look. */
export interface Expected {
  readonly status: number
  readonly code: string
  /** What the sentence must say: the field, and the value where it is short. */
  readonly says: readonly string[]
  /** Places that `errors` must name, in any order (422). */
  readonly at?: readonly (readonly (string | number)[])[]
}

/** A request; the body as text where its very characters matter. */
export interface Request {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface RefusedRequests<T> {
  /** What `arrange` made. */
  readonly made: T
  readonly service: RunningService
  /** Sends the request, holds the answer against what is expected, and the store against how it was. */
  refuses(request: Request, expected: Expected): Promise<void>
}

/**
 * A server for the tests of the current `describe`, with what `arrange` stores in it. All of them send only what must be
 * refused, so the store is compared with one picture of it taken before them.
 */
export function refusedRequests<T>(
  arrange: (service: RunningService) => Promise<T>,
  options: ServiceOptions = {},
): RefusedRequests<T> {
  let state: State<T> | undefined
  before(async () => {
    const first = await startService(options)
    const made = await arrange(first)
    // A server that stops puts all in order: one that starts then leaves the files as they are.
    await first.stop({ keepStore: true })
    const service = await startService({ ...options, storeDir: first.storeDir })
    const files = filesOf(service.storeDir)
    state = { service, made, files, snapshot: snapshotOf(service.storeDir, Object.keys(files)) }
    expect(Object.values(state.snapshot).join('\n')).to.include('refs/heads/')
  })
  after(() => state?.service.stop())

  const started = () => {
    if (!state) throw new Error('the service has not started yet')
    return state
  }
  return {
    get made() {
      return started().made
    },
    get service() {
      return started().service
    },
    refuses: async ({ method = 'POST', path, body, headers }, expected) => {
      const { service } = started()
      const reply = await service.call(method, path, body, headers)
      expect(reply.status, reply.text).to.equal(expected.status)
      expect(reply.headers.get('content-type')).to.match(/^application\/problem\+json/)
      expect(reply.body).to.include({ status: expected.status, code: expected.code, count: 0 })
      expect(reply.body.type).to.be.a('string')
      expect(reply.body.title).to.be.a('string')
      for (const words of expected.says) expect(reply.body.detail).to.include(words)
      if (expected.at) expect(reply.body.errors.map(locOf)).to.have.deep.members(expected.at)
      expectUnchanged(started())
    },
  }
}

interface State<T> {
  readonly service: RunningService
  readonly made: T
  readonly snapshot: ByRepository
  files: ByRepository
}

function expectUnchanged<T>(state: State<T>): void {
  const { storeDir } = state.service
  const files = filesOf(storeDir)
  expect(Object.keys(files)).to.deep.equal(Object.keys(state.files))
  const touched = Object.keys(files).filter((path) => files[path] !== state.files[path])
  if (touched.length === 0) return
  expect({ ...state.snapshot, ...snapshotOf(storeDir, touched) }).to.deep.equal(state.snapshot)
  state.files = files
}

function locOf({ loc }: { readonly loc: readonly (string | number)[] }): readonly (string | number)[] {
  return loc
}
