import { expect } from 'chai'
import fc from 'fast-check'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf } from '../../support/git/git-client.ts'

describe('subjects of revisions', () => {
  let service: RunningService
  let made = 0
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const create = async (data: unknown, surface = 'workflow'): Promise<string> => {
    const slug = `thing_${++made}`
    const path = surface === 'query' ? 'queries' : `${surface}s`
    const { status, text } = await service.post(`/simple/${path}/`, { [surface]: { slug, data } })
    expect(status, text).to.equal(200)
    return slug
  }

  const commit = async (slug: string, sent: object, surface = 'workflow') => {
    const path = surface === 'query' ? 'queries' : `${surface}s`
    const { status, text, body } = await service.post(`/${path}/revisions/commit`, {
      [`${surface}_revision_commit`]: { [`${surface}_ref`]: { slug }, ...sent },
    })
    expect(status, text).to.equal(200)
    return body[`${surface}_revision`]
  }

  const log = (slug: string, family = 'workflows', format = '%s') =>
    git(service.repository(slug, family), ['log', '-1', `--format=${format}`, slug])

  /** The subject of a commit without a message; it is what git shows, and no message. */
  const subjectOf = async (slug: string, sent: object, surface = 'workflow'): Promise<string> => {
    const { message, subject } = await commit(slug, sent, surface)
    expect(message).to.equal(undefined)
    expect(subject).to.equal(log(slug, surface === 'query' ? 'queries' : `${surface}s`))
    expect(subject.length).to.be.at.most(72)
    return subject
  }

  const of = (parameters: object) => ({ data: { parameters } })

  it('say what changed of a prompt', async () => {
    const message = (content: string) => ({ role: 'system', content })
    const prompt = (content: string) => ({ prompt: { messages: [message(content)] } })
    const before = { temperature: 0.7, ...prompt('One\nTwo\nThree') }
    const cases: [object, string][] = [
      [{ ...before, temperature: 0.2 }, 'Set parameters.temperature to 0.2'],
      [{ ...before, stream: false }, 'Set parameters.stream to false'],
      [{ ...before, stop: ['.'] }, 'Add parameters.stop'],
      [{ ...prompt('One\nTwo\nThree') }, 'Remove parameters.temperature'],
      [{ ...before, temperature: 'hot' }, 'Change parameters.temperature'],
      [{ ...before, temperature: null }, 'Clear parameters.temperature'],
      [{ ...before, ...prompt('One\n2\n3\nFour') }, 'Edit prompt/system.md (+3 −2)'],
      [
        { temperature: 0.1, ...prompt('One'), stop: 1, start: 2 },
        'Set parameters.temperature to 0.1 and 3 more',
      ],
      [before, 'Change nothing'],
      [
        { prompt: { messages: [message('New'), message('One\nTwo\nThree')] }, temperature: 0.7 },
        'Add prompt/system-18fdd5.md',
      ],
      [{ ...before, llm: { a: { frequency_penalty_of_the_model: 1 } } }, 'Add parameters.llm'],
    ]
    for (const [after, subject] of cases) {
      const slug = await create({ parameters: before })
      expect(log(slug)).to.equal('First revision')
      expect(await subjectOf(slug, of(after))).to.equal(subject)
    }
  })

  it('name as much of a long place as there is room for', async () => {
    const deep = (value: number) => ({ configuration: { llm: { a_rather_long_name_of_a_setting: value } } })
    const slug = await create({ parameters: deep(1) })
    expect(await subjectOf(slug, of(deep(2)))).to.equal('Set ….llm.a_rather_long_name_of_a_setting to 2')
  })

  it('show no value but numbers and booleans, and no long one', async () => {
    const slug = await create({ parameters: { a: 'secret-1', b: 1 } })
    expect(await subjectOf(slug, of({ a: 'secret-2', b: 1 }))).to.equal('Edit parameters.a (+1 −1)')
    const { text } = await service.post(
      '/workflows/revisions/commit',
      `{"workflow_revision_commit":{"workflow_ref":{"slug":"${slug}"},"data":{"parameters":{"a":"secret-2","b":${'9'.repeat(60)}}}}}`,
    )
    expect(text).to.include('"subject":"Change parameters.b"')
  })

  it('say that a header came', async () => {
    const slug = await create({ parameters: { a: 1 } })
    const data = { parameters: { a: 1 } }
    expect(await subjectOf(slug, { data, name: 'Named' })).to.equal('Add name')
    expect(await subjectOf(slug, { data, name: 'Named', tags: { team: 'a' } })).to.equal('Add tags')
    expect(await subjectOf(slug, { data })).to.equal('Remove name and 1 more')
    expect(await subjectOf(slug, { ...of({ a: 2 }), description: 'x' })).to.equal(
      'Set parameters.a to 2 and 1 more',
    )
  })

  it('say that a revision without data is one', async () => {
    await service.post('/workflows/', { workflow: { slug: 'empty' } })
    const { body } = await service.post('/workflows/variants/', {
      workflow_variant: { slug: 'empty', workflow_ref: { slug: 'empty' } },
    })
    const { id } = body.workflow_variant
    await service.post('/workflows/revisions/', { workflow_revision: { workflow_variant_id: id } })
    expect(log('empty')).to.equal('First revision, without data')
    expect(await subjectOf('empty', of({ a: 1 }))).to.equal('Add data')
  })

  it('of a query and an environment', async () => {
    const slug = await create({ windowing: { limit: 5 } }, 'query')
    expect(await subjectOf(slug, { data: { windowing: { limit: 6 } } }, 'query')).to.equal(
      'Set windowing.limit to 6',
    )
    const application = await create({ parameters: {} })
    const other = await create({ parameters: {} })
    const pin = (it: string, version: number) => ({
      workflow: { slug: it },
      workflow_revision: { slug: it, version },
    })
    await commit(application, of({ a: 1 }))
    const references = {
      [`${application}.revision`]: pin(application, 2),
      [`${other}.revision`]: pin(other, 1),
    }
    const sent = { data: { references } }
    expect(await subjectOf('staging', sent, 'environment')).to.match(
      new RegExp(`^Deploy ${application} (v2 )?and 1 more to staging$`),
    )
    expect(await subjectOf('staging', sent, 'environment')).to.equal('Change nothing')
    const remove = [`${other}.revision`]
    expect(await subjectOf('staging', { delta: { remove } }, 'environment')).to.equal(
      `Undeploy ${other} from staging`,
    )
  })

  it('of a testset count rows, however they came', async () => {
    const row = (number: number, text = 'x') => ({
      data: { number, text, testcase_dedup_id: `row-${number}` },
    })
    const slug = await create({ testcases: [1, 2, 3].map((it) => row(it)) }, 'testset')
    expect(log(slug, 'testsets')).to.equal('First revision: 3 rows')
    const rows = async (delta: object) => subjectOf(slug, { delta: { rows: delta } }, 'testset')
    expect(await rows({ add: [row(4)] })).to.equal('Add 1 row')
    const { body } = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug } })
    const [one, two, three] = body.testset_revision.data.testcases
    const replace = [
      { id: one.id, data: { number: 10, text: 'y' } },
      { id: two.id, data: two.data },
    ]
    expect(await rows({ add: [row(5), row(6)], replace, remove: [three.id] })).to.equal(
      'Add 2 rows, change 1, remove 1',
    )
    const whole = { data: { testcases: [row(2), row(4), row(5), row(7)] } }
    expect(await subjectOf(slug, whole, 'testset')).to.match(/^(Add 1 row, remove 2|Change 1 row, remove 1)$/)
    expect(await subjectOf(slug, whole, 'testset')).to.equal('Change nothing')
    const upload = new FormData()
    upload.set('file', new Blob(['{"number":1}\n{"number":2}\n']), 'rows.jsonl')
    const { id } = (await service.post('/testsets/revisions/retrieve', { testset_ref: { slug } })).body
      .testset_revision
    const { status, text } = await service.call('POST', `/testsets/revisions/${id}/upload`, upload)
    expect(status, text).to.equal(200)
    expect(log(slug, 'testsets')).to.equal('Change 2 rows, remove 2')
  })

  it('stay one line that writes no trailer, whatever keys are', async () => {
    const keys = [
      'a\nVariant: forged',
      'Variant: x',
      '\u202egnisrever',
      'a\u2028Slug: b',
      '\u0007bell',
      ' edge ',
      '',
      '"quoted"',
      'x'.repeat(300),
      '\u{1f600}'.repeat(60),
      '__proto__',
      '\u{e0041}tag',
      'a.b',
    ]
    for (const key of keys) {
      const slug = await create({ parameters: {} })
      const { text } = await service.post(
        '/workflows/revisions/commit',
        `{"workflow_revision_commit":{"workflow_ref":{"slug":"${slug}"},"data":{"parameters":{${JSON.stringify(key)}:1}}}}`,
      )
      const { subject } = JSON.parse(text).workflow_revision
      expect(subject, text)
        .to.equal(log(slug))
        .and.match(/^Set .* to 1$/)
      expect(subject.length).to.be.at.most(72)
      expect(subject).not.to.match(/[\p{C}\p{Zl}\p{Zp}]/u)
      expect(log(slug, 'workflows', '%(trailers:only,keyonly)').trim().split('\n')).to.deep.equal([
        'Variant',
        'Generated-Subject',
      ])
    }
  })

  // interface 4.19
  it('are what git shows of any message that was sent, which stays as it was sent', async () => {
    const slug = await create({ parameters: {} })
    const word = fc.constantFrom(
      '\n',
      '\n\n',
      ' ',
      'Set a to 1',
      'Generated-Subject: 12345678',
      'Variant: x',
      'é',
      '\r\n',
    )
    const messages = fc.sample(fc.array(word, { minLength: 1, maxLength: 6 }), { seed: 3, numRuns: 40 })
    for (const message of [...messages.map((it) => it.join('')), 'First revision', 'Change nothing']) {
      const revision = await commit(slug, { ...of({}), message })
      expect(revision.subject).to.equal(log(slug))
      const isBlank = message.trim() === ''
      expect(revision.message).to.equal(isBlank ? undefined : message)
      if (isBlank) expect(revision.subject).to.equal('Change nothing')
    }
  })

  it('are the same in the log, a query, and the graph', async () => {
    const slug = await create({ parameters: { a: 1 } })
    await commit(slug, of({ a: 2 }))
    await commit(slug, { ...of({ a: 3 }), message: 'Three\nlines\n\nBody' })
    const expected = ['Three lines', 'Set parameters.a to 2', 'First revision']
    const { body: logged } = await service.post('/workflows/revisions/log', {
      workflow: { workflow_ref: { slug } },
    })
    expect(logged.workflow_revisions.map((it: any) => it.subject)).to.deep.equal(expected)
    const { body: queried } = await service.post('/workflows/revisions/query', { workflow_refs: [{ slug }] })
    expect(queried.workflow_revisions.map((it: any) => it.subject).toReversed()).to.deep.equal(expected)
    const { body: graph } = await service.post('/workflows/graph', { workflow_ref: { slug } })
    expect(graph.nodes.map((it: any) => it.subject)).to.deep.equal(expected)
    const found = await service.post('/workflows/revisions/query', {
      workflow_revision: { message: 'parameters.a' },
    })
    expect(found.body.count).to.equal(0)
  })

  it('of a document too large to compare say so in general', async () => {
    const big = (last: number) => of({ list: [...Array.from({ length: 5000 }, (_, at) => at), last] })
    const slug = await create(big(1).data)
    expect(await subjectOf(slug, big(2))).to.equal('Change data')
  })

  it('are told from messages after amend, cherry-pick and rebase by plain git', async () => {
    const slug = await create({ parameters: { a: 1 } })
    await commit(slug, of({ a: 2 }))
    const clone = await cloneOf(service, slug)
    await clone.git('switch', '-q', '-c', `${slug}-b`, 'HEAD~1')
    clone.write('README.md', 'x')
    await clone.commit('By hand')
    await clone.git('cherry-pick', slug)
    await clone.git('push', '-q', 'origin', `${slug}-b`)
    const latest = async () => {
      const { body } = await service.post('/workflows/revisions/retrieve', {
        workflow_variant_ref: { slug: `${slug}-b` },
      })
      return body.workflow_revision
    }
    const picked = await latest()
    expect([picked.message, picked.subject]).to.deep.equal([undefined, 'Set parameters.a to 2'])
    const text = await clone.git('log', '-1', '--format=%B')
    const amended = text.replace('Set parameters.a to 2', 'Set parameters.a to two')
    await clone.git('commit', '-q', '--allow-empty', '-m', amended)
    await clone.git('push', '-q', 'origin', `${slug}-b`)
    const last = await latest()
    expect([last.message, last.subject]).to.deep.equal(['Set parameters.a to two', 'Set parameters.a to two'])
  })
})
