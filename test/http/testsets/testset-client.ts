import { join } from 'node:path'
import { expect } from 'chai'
import {
  ADMIN_KEY,
  type Reply,
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../support/servers/service.ts'

/** A testset as its creation left it. */
export interface MadeTestset {
  readonly id: string
  readonly slug: string
  readonly revisionId: string
  /** Of its testcases, in order. */
  readonly ids: readonly string[]
}

/** How a file is sent, beside its bytes: the text fields of its form, and headers. */
export interface FileSending {
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

/** A service of its own with what tests of testsets do all the time; every method but `send` expects a 200. */
export interface TestsetClient {
  readonly service: RunningService
  /** The folder of a testset's repository. */
  repository(slug: string): string
  /** A testset whose first revision holds rows of these contents. */
  make(rows: readonly unknown[], more?: object): Promise<MadeTestset>
  /** Posts a file; the answer may be a refusal. */
  send(path: string, file: string | Buffer, sending?: FileSending): Promise<Reply>
  /** A testset made of a file. */
  makeOf(file: string | Buffer, fields?: Readonly<Record<string, string>>): Promise<MadeTestset>
  /** Puts a file in place of a revision's rows; answers the new revision. */
  replaceBy(
    revisionId: string,
    file: string | Buffer,
    fields?: Readonly<Record<string, string>>,
  ): Promise<any>
  /** Commits onto a testset; the answer may be a refusal. */
  commit(fields: object): Promise<Reply>
  /** Applies a delta to the latest revision; answers the new one. */
  change(testset: MadeTestset, delta: object): Promise<any>
  /** The latest revision of a testset. */
  latest(testset: MadeTestset, more?: object): Promise<any>
  /** The rows of a testset's latest revision without their dedup ids. */
  contents(testset: MadeTestset): Promise<unknown[]>
  download(revisionId: string, query?: string): Promise<string>
  stop(): Promise<void>
}

/** Starts the service for a `describe`. */
export async function startTestsets(options: ServiceOptions = {}): Promise<TestsetClient> {
  const service = await startService(options)
  const prefix = `t${Math.random().toString(36).slice(2, 8)}`
  let made = 0

  const ok = async (reply: Promise<Reply>): Promise<any> => {
    const { status, text, body } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  const commit: TestsetClient['commit'] = (fields) =>
    service.post('/testsets/revisions/commit', { testset_revision_commit: fields })
  const send: TestsetClient['send'] = async (path, file, { fields = {}, headers = {} } = {}) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    form.append('file', new Blob([file]), 'rows')
    const response = await fetch(service.url + path, {
      method: 'POST',
      body: form,
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, ...headers },
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  }
  const madeOf = ({ testset }: any): MadeTestset => ({
    id: testset.id,
    slug: testset.slug,
    revisionId: testset.revision_id,
    ids: testset.data?.testcase_ids ?? [],
  })
  const latest: TestsetClient['latest'] = async ({ id }, more = {}) =>
    (await ok(service.post('/testsets/revisions/retrieve', { testset_ref: { id }, ...more })))
      .testset_revision

  return {
    service,
    repository: (slug) => join(service.storeDir, 'default', 'testsets', `${slug}.git`),
    make: async (rows, more) => {
      const data = { testcases: rows.map((row) => ({ data: row })) }
      const testset = { slug: `${prefix}-${++made}`, data, ...more }
      return madeOf(await ok(service.post('/simple/testsets/', { testset })))
    },
    send,
    makeOf: async (file, fields = {}) => {
      const named = { testset_slug: `${prefix}-${++made}`, ...fields }
      return madeOf(await ok(send('/simple/testsets/upload', file, { fields: named })))
    },
    replaceBy: async (revisionId, file, fields = {}) =>
      (await ok(send(`/testsets/revisions/${revisionId}/upload`, file, { fields }))).testset_revision,
    commit,
    change: async ({ id }, delta) => (await ok(commit({ testset_id: id, delta }))).testset_revision,
    latest,
    contents: async (testset) => contentsOf(await latest(testset)),
    download: async (revisionId, query = '') => {
      const response = await fetch(`${service.url}/testsets/revisions/${revisionId}/download?${query}`, {
        headers: { authorization: `ApiKey ${ADMIN_KEY}` },
      })
      const text = await response.text()
      expect(response.status, text).to.equal(200)
      return text
    },
    stop: () => service.stop(),
  }
}

/** The rows of a revision's record without their dedup ids. */
export function contentsOf({ data }: { readonly data: { readonly testcases: readonly any[] } }): unknown[] {
  return data.testcases.map(({ data: { testcase_dedup_id: _, ...content } }) => content)
}

/** The dedup ids of a revision's record. */
export function dedupIdsOf({ data }: { readonly data: { readonly testcases: readonly any[] } }): string[] {
  return data.testcases.map((testcase) => testcase.data.testcase_dedup_id)
}

/** The status, code and sentence of a refusal. */
export function refusal({ status, body }: Reply): string {
  return `${status} ${body.code}: ${body.detail}`
}
