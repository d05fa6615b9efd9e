import { expect } from 'chai'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

const SYSTEM = 'You are a helpful bot.\nAnswer in one sentence.\nBe polite.\nNever guess.\n'

function prompt(system: string, more: object = {}, messages: readonly object[] = []): object {
  return {
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: 'Hello {{name}}' },
          ...messages,
        ],
        ...more,
      },
    },
  }
}

describe('merge: prompts', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())

  const both = async (base: object, mine: object, theirs: object): Promise<[string, string]> => {
    const target = await client.make({ data: base }.data)
    const source = await client.fork(target)
    await client.commit(target, { data: mine })
    await client.commit(source, { data: theirs })
    return [source, target]
  }
  const messagesOf = ({ data }: any): any[] => data.parameters.prompt.messages

  // interface 6.5
  it('edits of different lines and keys come together in a commit of two parents', async () => {
    const [source, target] = await both(
      prompt(SYSTEM, { model: 'small', temperature: 1 }),
      prompt(SYSTEM.replace('polite', 'brief'), { model: 'large', temperature: 1 }),
      prompt(SYSTEM.replace('helpful', 'careful'), { model: 'small', temperature: 0.2 }),
    )
    const before = await client.latest(target)
    const theirs = await client.latest(source)
    const { merge, workflow_revision: made } = await client.merge(source, target)
    expect(merge).to.deep.include({ kind: 'merge', conflicts: [], resolved: 0 })
    expect(merge.base).to.include({ version: 1, slug: `${target}-1` })
    const subject = `Merge variant '${source}' into '${target}'`
    expect(made).to.include({ version: 3, slug: `${target}-3`, subject })
    expect(made).to.not.have.property('message')
    expect(messagesOf(made)[0].content).to.equal(
      SYSTEM.replace('polite', 'brief').replace('helpful', 'careful'),
    )
    expect(made.data.parameters.prompt).to.include({ model: 'large', temperature: 0.2 })
    const heads = client.git(target, 'rev-parse', target, `${target}^1`, `${target}^2`).split('\n')
    const digits = (id: string): string => id.replaceAll('-', '').slice(0, 12)
    expect(heads.map((it) => it.slice(0, 12))).to.deep.equal(
      [made, before, theirs].map(({ id }) => digits(id)),
    )
    expect(client.git(target, 'log', '-1', '--format=%s', target)).to.equal(subject)
    expect(client.git(target, 'fsck', '--strict')).to.equal('')
  })

  it('words of one line that both sides changed come together, too', async () => {
    const line = 'You are a helpful bot for the shop in Paris.'
    const [source, target] = await both(
      prompt(line),
      prompt(line.replace('helpful', 'cheerful')),
      prompt(line.replace('Paris', 'Rome')),
    )
    const { workflow_revision: made } = await client.merge(source, target)
    expect(messagesOf(made)[0].content).to.equal('You are a cheerful bot for the shop in Rome.')
  })

  // interface 6.7, 6.8
  it('what both changed is a conflict, which a resolution ends', async () => {
    const [source, target] = await both(prompt('Be kind.\n'), prompt('Be short.\n'), prompt('Be long.\n'))
    const before = await client.latest(target)
    const place = '/parameters/prompt/messages/0/content'
    const reply = await client.ask(source, target)
    expect(refused(reply)).to.equal('409 merge_conflict')
    expect(reply.body.conflicts).to.deep.equal([
      {
        place,
        kind: 'both_changed',
        base: 'Be kind.\n',
        target: 'Be short.\n',
        source: 'Be long.\n',
        marked: '<<<<<<< target\nBe short.\n||||||| base\nBe kind.\n=======\nBe long.\n>>>>>>> source\n',
      },
    ])
    expect((await client.latest(target)).id).to.equal(before.id)
    const tried = await client.merge(source, target, { dry_run: true })
    expect(tried).to.not.have.property('workflow_revision')
    expect(tried.merge.conflicts).to.deep.equal(reply.body.conflicts)
    const takes = { take: 'source', value: 'Be fair.\n', remove: true }
    for (const [key, value] of Object.entries(takes)) {
      const { merge } = await client.merge(source, target, {
        dry_run: true,
        resolutions: [{ place, [key]: value }],
      })
      expect(merge, key).to.deep.include({ kind: 'merge', conflicts: [], resolved: 1 })
    }
    const { workflow_revision: made, merge } = await client.merge(source, target, {
      resolutions: [{ place, value: 'Be fair.\n' }],
    })
    expect(merge.resolved).to.equal(1)
    expect(messagesOf(made)[0].content).to.equal('Be fair.\n')
  })

  // interface 6.8
  it('some resolutions leave the others open; one for no conflict is refused', async () => {
    const [source, target] = await both(
      prompt('Be kind.', { model: 'a' }),
      prompt('Be short.', { model: 'b' }),
      prompt('Be long.', { model: 'c' }),
    )
    const content = { place: '/parameters/prompt/messages/0/content', take: 'target' }
    const some = await client.ask(source, target, { resolutions: [content] })
    expect(refused(some)).to.equal('409 merge_conflict')
    expect(some.body.conflicts.map((it: any) => it.place)).to.deep.equal(['/parameters/prompt/model'])
    const other = await client.ask(source, target, {
      resolutions: [content, { place: '/parameters/prompt/top_p', take: 'target' }],
    })
    expect(refused(other)).to.equal('422 no_such_conflict')
    expect(other.body.detail).to.include('"/parameters/prompt/top_p"')
    const twice = await client.ask(source, target, { resolutions: [content, content] })
    expect(refused(twice)).to.equal('422 invalid_request')
    expect((await client.latest(target)).version).to.equal(2)
  })

  // interface 6.9
  it('a last entry takes one side of all that the others leave, and may find nothing left', async () => {
    const [source, target] = await both(
      prompt('Be kind.', { model: 'a', top_p: 1 }),
      prompt('Be short.', { model: 'b', top_p: 0.1 }),
      prompt('Be long.', { model: 'c', stop: ['.'] }),
    )
    const content = { place: '/parameters/prompt/messages/0/content', take: 'target' }
    for (const [all, model] of [
      ['source', 'c'],
      ['target', 'b'],
    ] as const) {
      const into = await client.fork(target)
      const made = await client.merge(source, into, { resolutions: [content, { all }] })
      expect(made.merge).to.deep.include({ conflicts: [], resolved: 3 })
      const { prompt: it } = made.workflow_revision.data.parameters
      expect(it).to.deep.include({ model, stop: ['.'] })
      expect(it.messages[0].content).to.equal('Be short.')
      // What one side removed is gone where that side is taken.
      expect('top_p' in it).to.equal(all === 'target')
    }
    await client.merge(source, target, { resolutions: [{ all: 'target' }] })
    const none = await client.merge(source, target, { resolutions: [{ all: 'source' }] })
    expect(none.merge).to.include({ kind: 'up_to_date', resolved: 0 })
  })

  it('messages that both sides put in stay, and an edited one is followed past them', async () => {
    const [source, target] = await both(
      prompt(SYSTEM),
      {
        parameters: {
          prompt: {
            messages: [
              { role: 'system', content: 'First of all.' },
              ...(prompt(SYSTEM) as any).parameters.prompt.messages,
            ],
          },
        },
      },
      prompt(SYSTEM.replace('polite', 'brief'), {}, [{ role: 'assistant', content: 'Yes?' }]),
    )
    const { workflow_revision: made } = await client.merge(source, target)
    expect(messagesOf(made)).to.deep.equal([
      { role: 'system', content: 'First of all.' },
      { role: 'system', content: SYSTEM.replace('polite', 'brief') },
      { role: 'user', content: 'Hello {{name}}' },
      { role: 'assistant', content: 'Yes?' },
    ])
  })

  // interface 6.3
  it('a message that one side removed and the other changed is a conflict at its place in the side that has it', async () => {
    const extra = { role: 'assistant', content: 'One line.\nAnother line.\nA third one.' }
    const changed = { ...extra, content: extra.content.replace('third', 'last') }
    const [source, target] = await both(prompt('x', {}, [extra]), prompt('x'), prompt('x', {}, [changed]))
    const { body } = await client.ask(source, target)
    expect(body.conflicts).to.deep.equal([
      {
        place: '/parameters/prompt/messages/2',
        in: 'source',
        kind: 'changed_and_removed',
        base: extra,
        source: changed,
      },
    ])
    const { workflow_revision: made } = await client.merge(source, target, {
      resolutions: [{ place: '/parameters/prompt/messages/2', in: 'source', take: 'source' }],
    })
    expect(messagesOf(made)[2]).to.deep.equal(changed)
  })

  it('tools are told by their names, other arrays are one thing', async () => {
    const tool = (name: string, description: string): object => ({ function: { name, description } })
    const tools = (...list: object[]): object => ({ parameters: { tools: list, stop: ['a'] } })
    const [source, target] = await both(
      tools(tool('one', '1'), tool('two', '2')),
      tools(tool('two', '2'), tool('one', '1'), tool('three', '3')),
      tools(tool('one', 'first'), tool('two', '2'), tool('four', '4')),
    )
    const { workflow_revision: made } = await client.merge(source, target)
    expect(made.data.parameters.tools).to.have.deep.members([
      tool('two', '2'),
      tool('one', 'first'),
      tool('three', '3'),
      tool('four', '4'),
    ])
    const [theirs, mine] = await both(
      { parameters: { stop: ['a'] } },
      { parameters: { stop: ['a', 'b'] } },
      { parameters: { stop: ['c'] } },
    )
    const { body } = await client.ask(theirs, mine)
    expect(body.conflicts).to.deep.equal([
      { place: '/parameters/stop', kind: 'both_changed', base: ['a'], target: ['a', 'b'], source: ['c'] },
    ])
  })

  // interface 6.7
  it('both sides moved one message to different places: a conflict of the order', async () => {
    const say = (...said: string[]): object => ({
      parameters: { prompt: { messages: said.map((content) => ({ role: 'user', content })) } },
    })
    const [source, target] = await both(
      say('a', 'b', 'c', 'd', 'e'),
      say('b', 'c', 'a', 'd', 'e'),
      say('b', 'c', 'd', 'e', 'a'),
    )
    const { body } = await client.ask(source, target)
    expect(body.conflicts.map(({ place, kind }: any) => [place, kind])).to.deep.equal([
      ['/parameters/prompt/messages', 'order'],
    ])
    const { workflow_revision: made } = await client.merge(source, target, {
      resolutions: [{ place: '/parameters/prompt/messages', take: 'source' }],
    })
    expect(messagesOf(made).map(({ content }) => content)).to.deep.equal(['b', 'c', 'd', 'e', 'a'])
  })

  it('header fields are merged by key', async () => {
    const target = await client.make(prompt('x'))
    const source = await client.fork(target)
    await client.commit(target, { data: prompt('x'), name: 'Mine', tags: { team: 'a', one: 'x' } })
    await client.commit(source, { data: prompt('y'), tags: { team: 'b', two: 'y' } })
    const { body } = await client.ask(source, target)
    expect(body.conflicts).to.deep.equal([
      { place: { header: '/tags/team' }, kind: 'both_added', target: 'a', source: 'b' },
    ])
    const { workflow_revision: made } = await client.merge(source, target, {
      resolutions: [{ place: { header: '/tags/team' }, take: 'source' }],
    })
    expect(made).to.include({ name: 'Mine' })
    expect(made.tags).to.deep.equal({ team: 'b', one: 'x', two: 'y' })
  })

  it('what comes of it is checked as a commit is', async () => {
    const place = '/uri'
    const [source, target] = await both(
      { uri: 'user:custom:a:v1' },
      { uri: 'user:custom:b:v1' },
      { uri: 'user:custom:c:v1' },
    )
    const reply = await client.ask(source, target, { resolutions: [{ place, value: 7 }] })
    expect(refused(reply)).to.equal('422 invalid_request')
    expect(reply.body.detail).to.include('uri must be a string')
    expect((await client.latest(target)).version).to.equal(2)
  })

  it('a number keeps its digits, in data and in conflicts', async () => {
    const target = await client.make({ parameters: {} })
    const source = await client.fork(target)
    const commit = (variant: string, text: string) =>
      client.service.post(
        '/workflows/revisions/commit',
        `{"workflow_revision_commit":{"workflow_variant_ref":{"slug":"${variant}"},"data":{"parameters":${text}}}}`,
      )
    await commit(target, '{"a":12345678901234567890}')
    await commit(source, '{"a":12345678901234567891,"7":1}')
    const { text } = await client.ask(source, target)
    expect(text).to.include('"target":12345678901234567890,"source":12345678901234567891')
    const place = '/parameters/a'
    const made = await client.ask(source, target, { resolutions: [{ place, take: 'source' }] })
    expect(made.text).to.include('"a":12345678901234567891')
  })
})

describe('merge: by moving the branch, or not', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())
  const data = (n: number): object => ({ parameters: { n } })

  const ahead = async (): Promise<[string, string, any]> => {
    const target = await client.make(data(1))
    const source = await client.fork(target)
    return [source, target, await client.commit(source, { data: data(2) })]
  }

  // interface 6.6
  it('the branch moves where its head is on the first-parent chain of the source', async () => {
    const [source, target, newest] = await ahead()
    const { merge, workflow_revision: made } = await client.merge(source, target)
    expect(merge).to.deep.include({ kind: 'fast_forward', conflicts: [] })
    expect(merge.base.slug).to.equal(`${target}-1`)
    expect(made).to.include({ id: newest.id, version: 2 })
    expect((await client.latest(target)).id).to.equal(newest.id)
  })

  // interface 6.6
  it('a message, or fast_forward: false, makes a commit', async () => {
    for (const more of [{ message: 'Take it in' }, { fast_forward: false }]) {
      const [source, target, newest] = await ahead()
      const { merge, workflow_revision: made } = await client.merge(source, target, more)
      expect(merge.kind).to.equal('merge')
      expect(made.id).to.not.equal(newest.id)
      expect(made).to.include({ version: 2 })
      expect(made.data).to.deep.equal(newest.data)
      if (more.message !== undefined) expect(made.message).to.equal(more.message)
    }
  })

  // interface 6.6
  it('a source that merged the target before is taken in by a commit with its tree, and versions and ids stay', async () => {
    const [source, target] = await ahead()
    await client.commit(target, { data: { parameters: { n: 1, m: 1 } } })
    const ids = async () => client.git(target, 'rev-list', '--first-parent', target).split('\n').reverse()
    const before = await ids()
    expect((await client.merge(target, source)).merge.kind).to.equal('merge')
    const { merge, workflow_revision: made } = await client.merge(source, target)
    expect(merge.kind).to.equal('merge')
    expect(made.version).to.equal(3)
    expect((await ids()).slice(0, 2)).to.deep.equal(before)
    expect(client.git(target, 'rev-parse', `${target}^{tree}`)).to.equal(
      client.git(target, 'rev-parse', `${source}^{tree}`),
    )
  })

  // interface 6.6, 3.6
  it('what is in the target already is up to date, and stores nothing', async () => {
    const [source, target] = await ahead()
    await client.merge(source, target, { message: 'In' })
    const refs = client.git(target, 'for-each-ref')
    for (const more of [{}, { message: 'Again' }, { dry_run: true }]) {
      const { merge } = await client.merge(source, target, more)
      expect(merge).to.deep.include({ kind: 'up_to_date', conflicts: [], resolved: 0 })
    }
    expect(client.git(target, 'for-each-ref')).to.equal(refs)
  })

  it('a variant without revisions takes the source as it is', async () => {
    const [source, target] = await ahead()
    const { status } = await client.post('/variants/', {
      workflow_variant: { slug: `${target}-empty`, workflow_ref: { slug: target } },
    })
    expect(status).to.equal(200)
    const { merge } = await client.merge(source, `${target}-empty`)
    expect(merge).to.deep.include({ kind: 'fast_forward', base: null })
  })
})
