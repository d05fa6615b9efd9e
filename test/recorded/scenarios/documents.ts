import { type Scenario, type Step, del, get, post, put } from '../harness/scenario.ts'
import { NOBODY, type RecordedSurface, SURFACES } from './surfaces.ts'

/** For every surface: what is made, read, changed, listed, archived and removed, and what each of these refuses. */
export const documentScenarios: readonly Scenario[] = SURFACES.flatMap((surface) => [
  { name: `${surface.path}-artifacts`, steps: artifacts(surface) },
  { name: `${surface.path}-variants`, steps: variants(surface) },
  { name: `${surface.path}-commits`, steps: commits(surface) },
  { name: `${surface.path}-retrieval`, steps: retrieval(surface) },
  { name: `${surface.path}-history`, steps: history(surface) },
  { name: `${surface.path}-merging`, steps: merging(surface) },
  { name: `${surface.path}-flat`, steps: flat(surface) },
])

function artifacts({ path, singular, template }: RecordedSurface): Step[] {
  const at = `/${path}`
  const create = (title: string, fields: unknown, as?: string): Step =>
    post(title, at, { [singular]: fields }, as === undefined ? {} : { as })
  return [
    create('create with a slug', { slug: 'bot' }, 'bot'),
    create(
      'create with all fields',
      {
        slug: 'rich',
        name: 'Rich — größer',
        description: 'Says\nmore',
        tags: { a: 'one', b: true },
        meta: { n: 12345678901234567890, __proto__: null },
      },
      'rich',
    ),
    create('create without a slug', { name: 'No slug at all' }, 'unnamed'),
    post('create with a chosen id', `${at}?${singular}_id=${NOBODY}`, { [singular]: { slug: 'chosen' } }),
    post('create with an id that is taken', `${at}?${singular}_id=${NOBODY}`, {
      [singular]: { slug: 'chosen-2' },
    }),
    post('create with an id that is none', `${at}?${singular}_id=seven`, {
      [singular]: { slug: 'chosen-3' },
    }),
    create('create with a slug that is taken', { slug: 'bot' }),
    create('create with a slug of capitals and spaces', { slug: 'Not A Slug' }),
    create('create with a slug that is empty', { slug: '' }),
    create('create with a slug that is too long', { slug: 'a'.repeat(300) }),
    create('create with a slug that is a route', { slug: 'query' }),
    create('create with a slug that is a number', { slug: 7 }),
    create('create with a name that is a list', { slug: 'listed', name: ['a'] }),
    create('create with tags of numbers', { slug: 'tagged', tags: { a: 1 } }),
    create('create with tags that are a text', { slug: 'tagged', tags: 'a' }),
    create('create with flags that are not known', { slug: 'flagged', flags: { is_green: true } }),
    create('create with a flag that is a text', { slug: 'flagged', flags: { is_guarded: 'yes' } }),
    create('create with a field that nobody reads', { slug: 'odd', nmae: 'Odd' }),
    create('create with a field that the server makes', { slug: 'made', created_at: '2026-01-01T00:00:00Z' }),
    template === undefined
      ? create('create from a template, where there are none', { slug: 'from-template', template: 'echo' })
      : create('create from a template', { slug: 'from-template', template }, 'templated'),
    create('create from a template that is not there', { slug: 'from-nothing', template: 'nothing' }),
    post('create without an envelope', at, {}),
    post('create in another envelope', at, { thing: { slug: 'bot' } }),
    post('create with null in the envelope', at, { [singular]: null }),
    post('create by text that is no JSON', at, '{"a":'),
    post('create by a list', at, []),
    post('create by nothing', at, ''),
    post('create with a media type that is not JSON', at, 'slug=bot', {
      headers: { 'content-type': 'text/plain' },
    }),
    post('create with a key that may only read', at, { [singular]: { slug: 'bot-2' } }, { key: 'read' }),
    post('create without a key', at, { [singular]: { slug: 'bot-2' } }, { key: 'none' }),
    post(
      'create repeatably',
      at,
      { [singular]: { slug: 'once' } },
      { headers: { 'idempotency-key': 'k-1' }, as: 'once' },
    ),
    post(
      'create repeatably again',
      at,
      { [singular]: { slug: 'once' } },
      { headers: { 'idempotency-key': 'k-1' } },
    ),
    post(
      'create another with the same Idempotency-Key',
      at,
      { [singular]: { slug: 'twice' } },
      { headers: { 'idempotency-key': 'k-1' } },
    ),
    post(
      'create with an Idempotency-Key that is too long',
      at,
      { [singular]: { slug: 'twice' } },
      { headers: { 'idempotency-key': 'k'.repeat(300) } },
    ),
    get('read by id', `${at}/<bot>`),
    get('read by slug', `${at}/bot`),
    get('read under /api with a slash', `/api${at}/bot/`),
    get('read what is not there', `${at}/${NOBODY}`),
    get('read a slug that is near', `${at}/bott`),
    get('read with a parameter that nobody reads', `${at}/bot?nobody_reads=1`),
    get('read all fields', `${at}/rich`),
    put('edit name and tags', `${at}/<bot>`, { [singular]: { id: '<bot>', name: 'Bot', tags: { x: 'y' } } }),
    put('edit nothing', `${at}/<bot>`, { [singular]: { name: 'Bot' } }),
    put('clear the name', `${at}/<rich>`, { [singular]: { name: null, description: null } }),
    put('edit by slug', `${at}/rich`, { [singular]: { description: 'By slug' } }),
    put('edit the slug', `${at}/<bot>`, { [singular]: { slug: 'other' } }),
    put('edit with the id of another', `${at}/<bot>`, { [singular]: { id: '<rich>', name: 'x' } }),
    put('edit what is not there', `${at}/${NOBODY}`, { [singular]: { name: 'x' } }),
    put('edit a name into a number', `${at}/<bot>`, { [singular]: { name: 7 } }),
    put(
      'edit with a tag that no longer applies',
      `${at}/<bot>`,
      { [singular]: { name: 'x' } },
      { headers: { 'if-match': '"nothing"' } },
    ),
    put('edit with a key that may only read', `${at}/<bot>`, { [singular]: { name: 'x' } }, { key: 'read' }),
    post('list', `${at}/query`, {}),
    post('list by name', `${at}/query`, { windowing: { order: 'name' } }),
    post('list by name from the end', `${at}/query`, { windowing: { order: '-name', limit: 3 } }),
    post('list by last change', `${at}/query`, {
      windowing: { order: '-updated', count_total: true, limit: 2 },
    }),
    post('list a page', `${at}/query`, { windowing: { limit: 1, order: 'ascending' } }),
    post('list the page after it', `${at}/query`, {
      windowing: { limit: 1, order: 'ascending', next: '<bot>' },
    }),
    post('list from a cursor that is none', `${at}/query`, { windowing: { next: 'seven' } }),
    post('list from a cursor of nothing', `${at}/query`, {
      windowing: { next: '01a1fbb1-f5c2-76ee-83de-4bacd1c878f7' },
    }),
    post('list in an order that is not known', `${at}/query`, { windowing: { order: 'size' } }),
    post('list with a limit below nothing', `${at}/query`, { windowing: { limit: -1 } }),
    post('list with a limit that is too large', `${at}/query`, { windowing: { limit: 1000000 } }),
    post('list what is old', `${at}/query`, { windowing: { newest: '2020-01-01T00:00:00Z' } }),
    post('list from a time that is none', `${at}/query`, { windowing: { oldest: 'yesterday' } }),
    post('list by tags', `${at}/query`, { [singular]: { tags: { x: 'y' } } }),
    post('list by name as it is', `${at}/query`, { [singular]: { name: 'Bot' } }),
    post('list by slugs', `${at}/query`, { [`${singular}_refs`]: [{ slug: 'bot' }, { id: '<rich>' }] }),
    post('list by a slug', `${at}/query`, { [singular]: { slug: 'bot' } }),
    post('list by slugs that are text', `${at}/query`, { [`${singular}_refs`]: 'bot' }),
    post('list by text', `${at}/query`, { [singular]: { text: 'rich' } }),
    post('list by text in the wrong place', `${at}/query`, { text: 'rich' }),
    post('list with parameters', `${at}/query?limit=1`, {}),
    post('archive', `${at}/<rich>/archive`),
    post('archive again', `${at}/<rich>/archive`),
    post('edit what is archived', `${at}/<rich>`, {}),
    put('edit the archived', `${at}/<rich>`, { [singular]: { name: 'x' } }),
    post('list without the archived', `${at}/query`, { windowing: { order: 'name' } }),
    post('list with the archived', `${at}/query`, { include_archived: true, windowing: { order: 'name' } }),
    get('read the archived', `${at}/rich`),
    post('bring back', `${at}/<rich>/unarchive`),
    post('bring back again', `${at}/<rich>/unarchive`),
    post('archive what is not there', `${at}/${NOBODY}/archive`),
    post('archive with a key that may only read', `${at}/<rich>/archive`, {}, { key: 'read' }),
    post('see no graph of nothing', `${at}/graph`, {}),
    del('remove by the way of artifacts', `${at}/<rich>`),
    get('a method that the route does not take', `${at}/query`),
  ]
}

function variants({ path, singular, data }: RecordedSurface): Step[] {
  const at = `/${path}/variants`
  const key = `${singular}_variant`
  const create = (title: string, fields: unknown, as?: string): Step =>
    post(title, at, { [key]: fields }, as === undefined ? {} : { as })
  return [
    post('an artifact', `/${path}`, { [singular]: { slug: 'bot' } }, { as: 'bot' }),
    create('create', { [`${singular}_id`]: '<bot>', slug: 'main' }, 'main'),
    create(
      'create by artifact_id',
      {
        artifact_id: '<bot>',
        slug: 'second',
        name: 'Second',
        description: 'Said',
        tags: { a: 'one' },
        meta: { b: 2 },
      },
      'second',
    ),
    post(
      'create by reference',
      at,
      { [key]: { slug: 'third' }, [`${singular}_ref`]: { slug: 'bot' } },
      { as: 'third' },
    ),
    create('create without a slug', { artifact_id: '<bot>', name: 'Un named' }, 'unnamed'),
    create('create with a slug that is taken', { artifact_id: '<bot>', slug: 'main' }),
    create('create with a slug that git does not take', { artifact_id: '<bot>', slug: 'a..b' }),
    create('create without an artifact', { slug: 'lost' }),
    create('create in an artifact that is not there', { artifact_id: NOBODY, slug: 'lost' }),
    create('create in two artifacts', {
      artifact_id: '<bot>',
      [`${singular}_ref`]: { slug: 'other' },
      slug: 'lost',
    }),
    create('create with a field that nobody reads', { artifact_id: '<bot>', slug: 'odd', version: 1 }),
    create('create with a name that is an object', { artifact_id: '<bot>', name: {} }),
    post('create with a key that may only read', at, { [key]: { artifact_id: '<bot>' } }, { key: 'read' }),
    post(
      'commit on main',
      `/${path}/revisions/commit`,
      { [`${singular}_revision`]: { variant_id: '<main>', message: 'First', data: data('n1') } },
      { as: 'first' },
    ),
    get('read by id', `${at}/<main>`),
    get('read by slug', `${at}/second`),
    get('read what is not there', `${at}/${NOBODY}`),
    get('read a slug that is near', `${at}/secnd`),
    put('edit', `${at}/<second>`, { [key]: { name: 'Renamed', tags: { a: 'two' } } }),
    put('edit nothing', `${at}/<second>`, { [key]: { name: 'Renamed' } }),
    put('clear', `${at}/<second>`, { [key]: { name: null, description: null, tags: null, meta: null } }),
    put('edit the slug', `${at}/<second>`, { [key]: { slug: 'other' } }),
    put('edit what is not there', `${at}/${NOBODY}`, { [key]: { name: 'x' } }),
    put('edit with a key that may only read', `${at}/<second>`, { [key]: { name: 'x' } }, { key: 'read' }),
    post(
      'fork',
      `${at}/fork`,
      { [key]: { slug: 'forked', name: 'Forked' }, [`${key}_ref`]: { slug: 'main' } },
      { as: 'forked' },
    ),
    post(
      'fork a revision',
      `${at}/fork`,
      { [key]: { slug: 'forked_2' }, [`${singular}_revision_ref`]: { id: '<first>' } },
      { as: 'forked 2' },
    ),
    post('fork in the form of two members', `${at}/fork`, {
      [key]: { slug: 'forked_3' },
      [`${key}_id`]: '<main>',
    }),
    post(
      'fork under the shared path',
      '/variants/fork',
      { [key]: { slug: 'forked_4' }, [`${key}_ref`]: { slug: 'main' } },
      { as: 'forked 4' },
    ),
    post('fork under the shared path without a reference', '/variants/fork', {}),
    post('fork without a slug', `${at}/fork`, { [`${key}_ref`]: { slug: 'main' } }),
    post('fork to a slug that is taken', `${at}/fork`, {
      [key]: { slug: 'main' },
      [`${key}_ref`]: { slug: 'main' },
    }),
    post('fork nothing', `${at}/fork`, { [key]: { slug: 'x' } }),
    post('fork what is not there', `${at}/fork`, {
      [key]: { slug: 'x' },
      [`${key}_ref`]: { slug: 'nobody' },
    }),
    post('fork a variant without revisions', `${at}/fork`, {
      [key]: { slug: 'x' },
      [`${key}_ref`]: { slug: 'third' },
    }),
    post('fork a version that is not there', `${at}/fork`, {
      [key]: { slug: 'x' },
      [`${singular}_revision_ref`]: { slug: 'main', version: 9 },
    }),
    post('fork by references that disagree', `${at}/fork`, {
      [key]: { slug: 'x' },
      [`${key}_ref`]: { slug: 'second' },
      [`${singular}_revision_ref`]: { id: '<first>' },
    }),
    post('fork to a slug of spaces', `${at}/fork`, {
      [key]: { slug: 'a b' },
      [`${key}_ref`]: { slug: 'main' },
    }),
    post('fork with a field that nobody reads', `${at}/fork`, {
      [key]: { slug: 'x', nobody_reads: 1 },
      [`${key}_ref`]: { slug: 'main' },
    }),
    post(
      'fork with a key that may only read',
      `${at}/fork`,
      { [key]: { slug: 'x' }, [`${key}_ref`]: { slug: 'main' } },
      { key: 'read' },
    ),
    post(
      'fork repeatably',
      `${at}/fork`,
      { [key]: { slug: 'once' }, [`${key}_ref`]: { slug: 'main' } },
      { headers: { 'idempotency-key': 'f' }, as: 'once' },
    ),
    post(
      'fork repeatably again',
      `${at}/fork`,
      { [key]: { slug: 'once' }, [`${key}_ref`]: { slug: 'main' } },
      { headers: { 'idempotency-key': 'f' } },
    ),
    post('list', `${at}/query`),
    post('list of the artifact', `${at}/query`, { [`${singular}_refs`]: [{ slug: 'bot' }] }),
    post('list of an artifact that is not there', `${at}/query`, {
      [`${singular}_refs`]: [{ slug: 'nobody' }],
    }),
    post('list by references', `${at}/query`, { [`${key}_refs`]: [{ slug: 'main' }, { id: '<second>' }] }),
    post('list by name', `${at}/query`, { windowing: { order: 'name', limit: 2, count_total: true } }),
    post('list by fields', `${at}/query`, { [key]: { name: 'Forked' } }),
    post('list by a field that is a number', `${at}/query`, { [key]: { name: 7 } }),
    post('archive', `${at}/<second>/archive`),
    post('archive again', `${at}/<second>/archive`),
    post('commit on the archived', `/${path}/revisions/commit`, {
      [`${singular}_revision`]: { variant_id: '<second>', data: data('n1') },
    }),
    post('list without the archived', `${at}/query`, { [`${key}_refs`]: [{ slug: 'second' }] }),
    post('list with the archived', `${at}/query`, {
      [`${key}_refs`]: [{ slug: 'second' }],
      include_archived: true,
    }),
    post('bring back', `${at}/<second>/unarchive`),
    post('archive what is not there', `${at}/${NOBODY}/archive`),
    post('bring back what is not there', `${at}/${NOBODY}/unarchive`),
    post('see the graph', `/${path}/graph`, { [`${singular}_ref`]: { slug: 'bot' } }),
    post('see a page of the graph', `/${path}/graph`, {
      [`${singular}_ref`]: { slug: 'bot' },
      windowing: { limit: 1 },
    }),
    post('see the graph of what is not there', `/${path}/graph`, { [`${singular}_ref`]: { slug: 'nobody' } }),
  ]
}

function commits({ path, singular, data, delta, removal, template, wrong }: RecordedSurface): Step[] {
  const at = `/${path}/revisions/commit`
  const key = `${singular}_revision_commit`
  const commit = (title: string, fields: object, more: object = {}): Step =>
    post(title, at, { [key]: { [`${singular}_variant_id`]: '<bot variant>', ...fields } }, more)
  return [
    post(
      'an artifact with a revision',
      `/simple/${path}`,
      { [singular]: { slug: 'bot', data: data('n1') } },
      { as: 'bot' },
    ),
    commit('commit', { message: 'Second\n\nWith a body', data: data('n1', 'n2') }, { as: 'second' }),
    commit('commit without a message', { data: data('n2') }, { as: 'third' }),
    post(
      'commit in the other envelope by slugs',
      at,
      { [`${singular}_revision`]: { data: data('n4') }, [`${singular}_variant_ref`]: { slug: 'bot' } },
      { as: 'fourth' },
    ),
    post(
      'commit by the artifact',
      at,
      {
        [key]: {
          [`${singular}_ref`]: { slug: 'bot' },
          data: data('n5'),
          name: 'Five',
          description: 'Of five',
          tags: { five: 'x' },
          meta: { a: [1.0, 1e2] },
        },
      },
      { as: 'fifth' },
    ),
    commit('commit with a slug', { slug: 'launch', data: data('n6'), message: 'Launch' }, { as: 'sixth' }),
    commit('commit with a slug that is taken', { slug: 'launch', data: data('n7') }),
    commit('commit with an author', { author: 'Someone <some@one.org>', data: data('n7') }),
    commit('commit a delta', { delta: delta('n8', 'n6'), message: 'Delta' }, { as: 'seventh' }),
    commit('commit a delta that removes', { delta: removal, message: 'Less' }, { as: 'lessened' }),
    commit('commit a delta that removes what is not there', { delta: { remove: ['nothing'] } }),
    commit('commit a delta that is a text', { delta: 'x' }),
    commit('commit a delta and data', { delta: delta('n9', 'n8'), data: data('n9') }),
    commit('commit an empty delta', { delta: {} }),
    commit('commit nothing', {}),
    commit('commit null', { data: null }),
    commit('commit what is there already', { data: data('n6'), message: 'Again' }, { as: 'eighth' }),
    post('commit only if it changes something', at, {
      if_changed: true,
      [key]: { [`${singular}_variant_id`]: '<bot variant>', data: data('n6') },
    }),
    post(
      'commit only if it changes something, and it does',
      at,
      { if_changed: true, [key]: { [`${singular}_variant_id`]: '<bot variant>', data: data('n9') } },
      { as: 'ninth' },
    ),
    commit('commit with if_changed in the wrong place', { data: data('n6'), if_changed: true }),
    commit('commit upon a base', { data: data('n10'), base_revision_id: '<ninth>' }, { as: 'tenth' }),
    commit('commit upon a base that is no longer the head', {
      data: data('n11'),
      base_revision_id: '<ninth>',
    }),
    commit('commit upon a base that is not there', { data: data('n11'), base_revision_id: NOBODY }),
    commit('commit upon a base that is no id', { data: data('n11'), base_revision_id: 'seven' }),
    commit(
      'commit with If-Match of nothing',
      { data: data('n11') },
      { headers: { 'if-match': '"nothing"' } },
    ),
    post('commit without a variant', at, { [key]: { data: data('n11') } }),
    post('commit to a variant that is not there', at, { [key]: { variant_id: NOBODY, data: data('n11') } }),
    post('commit to a slug that is not there', at, {
      [key]: { data: data('n11') },
      [`${singular}_variant_ref`]: { slug: 'nobody' },
    }),
    post('commit to a variant of another artifact', at, {
      [key]: { variant_id: '<bot variant>', artifact_id: NOBODY, data: data('n11') },
    }),
    commit('commit with a slug of spaces', { slug: 'a b', data: data('n11') }),
    commit('commit with a message that is a number', { message: 7, data: data('n11') }),
    commit('commit with tags that are a list', { tags: [], data: data('n11') }),
    commit('commit with a misspelt field', { messge: 'x', data: data('n11') }),
    commit('commit with a field that the server makes', { version: 7, data: data('n11') }),
    ...wrong.map(([what, wrongData]) => commit(`commit ${what}`, { data: wrongData })),
    post('commit without an envelope', at, {}),
    post('commit by text that is no JSON', at, '{'),
    post(
      'commit by JSON that names a member twice',
      at,
      `{"${key}":{"variant_id":"<bot variant>","data":{},"data":{}}}`,
    ),
    commit('commit with a key that may only read', { data: data('n11') }, { key: 'read' }),
    commit('commit without a key', { data: data('n11') }, { key: 'none' }),
    commit('commit with a key that nobody has', { data: data('n11') }, { key: 'unknown' }),
    commit(
      'commit repeatably',
      { data: data('n12') },
      { headers: { 'idempotency-key': 'c' }, as: 'twelfth' },
    ),
    commit('commit repeatably again', { data: data('n12') }, { headers: { 'idempotency-key': 'c' } }),
    commit(
      'commit another with the same Idempotency-Key',
      { data: data('n13') },
      { headers: { 'idempotency-key': 'c' } },
    ),
    post(
      'a variant',
      `/${path}/variants`,
      { [`${singular}_variant`]: { artifact_id: '<bot>', slug: 'empty' } },
      { as: 'empty' },
    ),
    post(
      'commit by an artifact of two variants',
      at,
      { [key]: { [`${singular}_id`]: '<bot>', data: data('n13') } },
      { as: 'thirteenth' },
    ),
    post(
      'first revision without a payload',
      `/${path}/revisions`,
      { [`${singular}_revision`]: { variant_id: '<empty>', message: 'Begin' } },
      { as: 'begun' },
    ),
    post('first revision where there is one', `/${path}/revisions`, {
      [`${singular}_revision`]: { variant_id: '<empty>' },
    }),
    post('first revision without a variant', `/${path}/revisions`, { [`${singular}_revision`]: {} }),
    post('first revision of what is not there', `/${path}/revisions`, {
      [`${singular}_revision`]: { variant_id: NOBODY },
    }),
    commit(template === undefined ? 'commit and deploy what is not deployed so' : 'commit and deploy', {
      data: data('n14'),
      deploy: ['staging'],
    }),
    commit('commit and deploy to what is not there', { data: data('n14'), deploy: ['nowhere'] }),
    post('archive the artifact', `/${path}/<bot>/archive`),
    commit('commit to the archived', { data: data('n15') }),
  ]
}

function retrieval({ path, singular, text, data }: RecordedSurface): Step[] {
  const at = `/${path}/revisions`
  const retrieve = (title: string, body: object, more: object = {}): Step =>
    post(title, `${at}/retrieve`, body, more)
  const besideSteps = (): Step[] => [
    retrieve('of the archived artifact with the head', {
      [`${singular}_revision_ref`]: { id: '<bot revision>' },
      include_head: true,
    }),
    post('bring the artifact back', `/${path}/<bot>/unarchive`),
    retrieve('with the head and where it comes from', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      [`${singular}_revision_ref`]: { version: 1 },
      include_head: true,
      include_provenance: true,
    }),
    get('with the head by parameters', `${at}/retrieve?${singular}_variant_ref.slug=side&include_head=true`),
    retrieve('with the head and the references resolved', {
      [`${singular}_ref`]: { slug: 'bot' },
      resolve: true,
      include_head: true,
    }),
    retrieve('with a head that is a text', { [`${singular}_ref`]: { slug: 'bot' }, include_head: 'yes' }),
  ]
  return [
    post(
      'an artifact with a revision',
      `/simple/${path}`,
      { [singular]: { slug: 'bot', name: 'Bot', data: data('n1') } },
      { as: 'bot' },
    ),
    post(
      'a second one',
      `${at}/commit`,
      {
        [`${singular}_revision`]: {
          variant_id: '<bot variant>',
          slug: 'launch',
          message: 'Launch',
          data: data('n1', 'n2'),
        },
      },
      { as: 'second' },
    ),
    post(
      'a fork',
      `/${path}/variants/fork`,
      { [`${singular}_variant`]: { slug: 'side' }, [`${singular}_revision_ref`]: { id: '<bot revision>' } },
      { as: 'side' },
    ),
    post('an artifact without variants', `/${path}`, { [singular]: { slug: 'bare' } }, { as: 'bare' }),
    retrieve('by the artifact', { [`${singular}_ref`]: { slug: 'bot' } }),
    retrieve('by the artifact and its version', {
      [`${singular}_ref`]: { slug: 'bot' },
      [`${singular}_revision_ref`]: { version: 1 },
    }),
    retrieve('by the artifact’s id', { [`${singular}_ref`]: { id: '<bot>' } }),
    retrieve('by the variant', { [`${singular}_variant_ref`]: { slug: 'side' } }),
    retrieve('by the variant’s id', { [`${singular}_variant_ref`]: { id: '<bot variant>' } }),
    retrieve('by the revision’s id', { [`${singular}_revision_ref`]: { id: '<bot revision>' } }),
    retrieve('by the revision’s slug', { [`${singular}_revision_ref`]: { slug: 'launch' } }),
    retrieve('by the slug that a version has', { [`${singular}_revision_ref`]: { slug: 'bot-1' } }),
    retrieve('by a variant and a version', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      [`${singular}_revision_ref`]: { version: 1 },
    }),
    retrieve('by a variant’s slug and a version in one', {
      [`${singular}_revision_ref`]: { slug: 'bot', version: 2 },
    }),
    retrieve('by a version as a text', { [`${singular}_revision_ref`]: { slug: 'bot', version: '1' } }),
    retrieve('with the references resolved', { [`${singular}_ref`]: { slug: 'bot' }, resolve: true }),
    retrieve('by an environment that has it not', {
      environment_ref: { slug: 'production' },
      [`${singular}_ref`]: { slug: 'bot' },
    }),
    retrieve('by a key of an environment that has nothing', {
      environment_ref: { slug: 'production' },
      key: 'bot',
    }),
    retrieve('by an environment that is not there', {
      environment_ref: { slug: 'moon' },
      [`${singular}_ref`]: { slug: 'bot' },
    }),
    retrieve('by nothing', {}),
    retrieve('by an empty reference', { [`${singular}_ref`]: {} }),
    retrieve('by a version alone', { [`${singular}_revision_ref`]: { version: 1 } }),
    retrieve('by an artifact that is not there', { [`${singular}_ref`]: { slug: 'nobody' } }),
    retrieve('by a slug that is near', { [`${singular}_ref`]: { slug: 'bott' } }),
    retrieve('by an id that is not there', { [`${singular}_revision_ref`]: { id: NOBODY } }),
    retrieve('by a version that is not there', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      [`${singular}_revision_ref`]: { version: 9 },
    }),
    retrieve('by an artifact without variants', { [`${singular}_ref`]: { slug: 'bare' } }),
    retrieve('by references that disagree', {
      [`${singular}_ref`]: { slug: 'bare' },
      [`${singular}_variant_ref`]: { slug: 'side' },
    }),
    retrieve('by a slug and an id that disagree', { [`${singular}_ref`]: { slug: 'bare', id: '<bot>' } }),
    retrieve('by a reference that is a text', { [`${singular}_ref`]: 'bot' }),
    retrieve('by a slug that is a number', { [`${singular}_ref`]: { slug: 7 } }),
    retrieve('by a member that nobody reads', { [`${singular}_rf`]: { slug: 'bot' } }),
    retrieve('without a key', { [`${singular}_ref`]: { slug: 'bot' } }, { key: 'none' }),
    retrieve('with a key that may only write', { [`${singular}_ref`]: { slug: 'bot' } }, { key: 'write' }),
    retrieve('with a key that may only read', { [`${singular}_ref`]: { slug: 'bot' } }, { key: 'read' }),
    get('by parameters', `${at}/retrieve?${singular}_ref.slug=bot`),
    get(
      'by parameters of a variant and a version',
      `${at}/retrieve?${singular}_variant_ref.slug=bot&${singular}_revision_ref.version=1`,
    ),
    get('by parameters that nobody reads', `${at}/retrieve?${singular}_rf.slug=bot`),
    get(
      'by a version that is no number',
      `${at}/retrieve?${singular}_revision_ref.version=one&${singular}_revision_ref.slug=bot`,
    ),
    get('by no parameters', `${at}/retrieve`),
    get('with the tag that it has', `${at}/retrieve?${singular}_ref.slug=bot`, {
      headers: { 'if-none-match': '<etag 1>' },
    }),
    get('with another tag', `${at}/retrieve?${singular}_ref.slug=bot`, {
      headers: { 'if-none-match': '"other"' },
    }),
    get('the revision', `${at}/<second>`),
    get('the revision by its slug', `${at}/launch`),
    get('a revision that is not there', `${at}/${NOBODY}`),
    get('where it comes from', `${at}/<second>/provenance`),
    get('where what is not there comes from', `${at}/${NOBODY}/provenance`),
    get('its files', `${at}/<second>/files`),
    get('a page of its files', `${at}/<second>/files?limit=1`),
    get('the files of what is not there', `${at}/${NOBODY}/files`),
    get(
      'a file',
      `${at}/<second>/files/${path === 'testsets' ? 'columns.json' : path === 'environments' ? 'references.json' : 'data.json'}`,
    ),
    get('a file that is not there', `${at}/<second>/files/no/such.json`),
    text === undefined
      ? get('who wrote a text, where there are none', `${at}/<second>/blame?place=/script`)
      : get('who wrote its text', `${at}/<second>/blame?place=${text}`),
    get('who wrote a text that is not there', `${at}/<second>/blame?place=/nothing`),
    get('who wrote no text', `${at}/<second>/blame`),
    post('archive a revision', `${at}/<second>/archive`),
    retrieve('the latest, past the archived', { [`${singular}_ref`]: { slug: 'bot' } }),
    retrieve('the archived by its id', { [`${singular}_revision_ref`]: { id: '<second>' } }),
    post('bring the revision back', `${at}/<second>/unarchive`),
    post('archive a revision that is not there', `${at}/${NOBODY}/archive`),
    post('bring back a revision that is not there', `${at}/${NOBODY}/unarchive`),
    post('archive the artifact', `/${path}/<bot>/archive`),
    retrieve('of the archived artifact', { [`${singular}_ref`]: { slug: 'bot' } }),
    retrieve('of the archived artifact by id', { [`${singular}_revision_ref`]: { id: '<second>' } }),
    ...(/^(?:workflow|application|evaluator)s$/.test(path) ? besideSteps() : []),
  ]
}

function history({ path, singular, text, data }: RecordedSurface): Step[] {
  const at = `/${path}/revisions`
  const commit = (title: string, as: string, ...marks: readonly string[]): Step =>
    post(
      title,
      `${at}/commit`,
      { [`${singular}_revision`]: { variant_id: '<bot variant>', message: title, data: data(...marks) } },
      { as },
    )
  const log = (title: string, body: object, more: object = {}): Step => post(title, `${at}/log`, body, more)
  const list = (title: string, body: object, more: object = {}): Step =>
    post(title, `${at}/query`, body, more)
  const diff = (title: string, body: unknown, more: object = {}): Step =>
    post(title, `${at}/diff`, body, more)
  const ref = (version: number): object => ({ slug: 'bot', version })
  return [
    post(
      'an artifact with a revision',
      `/simple/${path}`,
      { [singular]: { slug: 'bot', data: data('n1') } },
      { as: 'bot' },
    ),
    commit('Second', 'second', 'n1', 'n2'),
    commit('Third', 'third', 'n2', 'n3'),
    post(
      'another artifact',
      `/simple/${path}`,
      { [singular]: { slug: 'other', data: data('n1') } },
      { as: 'other' },
    ),
    log('the log', { [`${singular}_variant_ref`]: { slug: 'bot' } }),
    log('the log by an id in the envelope', { [singular]: { [`${singular}_variant_id`]: '<bot variant>' } }),
    log('the log with payloads', { [`${singular}_variant_ref`]: { slug: 'bot' }, include_data: true }),
    log('the log by the artifact', { [`${singular}_ref`]: { slug: 'bot' } }),
    log('the log from a revision', { [`${singular}_revision_ref`]: { id: '<second>' } }),
    log('the log to a depth', { [`${singular}_variant_ref`]: { slug: 'bot' }, depth: 2 }),
    log('a page of the log', { [`${singular}_variant_ref`]: { slug: 'bot' }, windowing: { limit: 1 } }),
    log('the page after it', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      windowing: { limit: 1, next: '<third>' },
    }),
    log('the log in the other order', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      windowing: { order: 'ascending' },
    }),
    log('the log of nothing', {}),
    log('the log of what is not there', { [`${singular}_variant_ref`]: { slug: 'nobody' } }),
    log('the log of an id that is not there', { [`${singular}_variant_ref`]: { id: NOBODY } }),
    log('the log to a depth below nothing', { [`${singular}_variant_ref`]: { slug: 'bot' }, depth: -1 }),
    log('the log with a depth that is a text', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      depth: 'two',
    }),
    log('the log with a cursor that is none', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      windowing: { next: 'x' },
    }),
    log('the log with a member that nobody reads', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      nobody_reads: 1,
    }),
    log('the log by references that disagree', {
      [`${singular}_ref`]: { slug: 'other' },
      [`${singular}_variant_ref`]: { slug: 'bot' },
    }),
    log('the log with include_data that is a text', {
      [`${singular}_variant_ref`]: { slug: 'bot' },
      include_data: 'yes',
    }),
    log('the log without a key', {}, { key: 'none' }),
    log('the log with a key that may only write', {}, { key: 'write' }),
    list('revisions', {}),
    list('revisions of an artifact', { [`${singular}_refs`]: [{ slug: 'bot' }] }),
    list('revisions of a variant', { [`${singular}_variant_refs`]: [{ slug: 'bot' }] }),
    list('revisions by references', {
      [`${singular}_revision_refs`]: [{ id: '<second>' }, { slug: 'other', version: 1 }],
    }),
    list('revisions by message', { [`${singular}_revision`]: { message: 'Second' } }),
    list('revisions by author', { [`${singular}_revision`]: { author: 'nobody' } }),
    list('revisions by text', { [`${singular}_revision`]: { text: 'second' } }),
    list('revisions by text in the wrong place', { text: 'second' }),
    list('a page of revisions', { windowing: { limit: 2, count_total: true } }),
    list('revisions from the oldest', { windowing: { order: 'ascending', limit: 2 } }),
    list('revisions with include_data, which only the log takes', {
      include_data: true,
      windowing: { limit: 1 },
    }),
    list('revisions of what is not there', { [`${singular}_refs`]: [{ slug: 'nobody' }] }),
    list('revisions by references that are a text', { [`${singular}_refs`]: 'bot' }),
    list('revisions by an empty reference', { [`${singular}_refs`]: [{}] }),
    list('revisions in an order that is not known', { windowing: { order: 'size' } }),
    list('revisions up to a limit that is too large', { windowing: { limit: 1e9 } }),
    list('revisions by a member that nobody reads', { nobody_reads: 1 }),
    list('revisions with a key that may only write', {}, { key: 'write' }),
    diff('compare two', { base: ref(1), head: ref(3) }),
    diff('compare by ids', {
      base: { id: '<second>' },
      head: { id: '<third>' },
    }),
    diff('compare by references of another form', {
      base: { revision: { slug: 'bot', version: 1 } },
      head: { variant: { slug: 'bot' } },
    }),
    diff('compare one with itself', { base: ref(2), head: ref(2) }),
    diff('compare across artifacts', {
      base: ref(1),
      head: { slug: 'other', version: 1 },
    }),
    diff('compare with nothing', { base: ref(1) }),
    diff('compare with what is not there', { base: ref(1), head: ref(9) }),
    diff('compare with an empty reference', { base: ref(1), head: {} }),
    diff('compare with a text', { base: ref(1), head: 'bot' }),
    diff('compare with a member that nobody reads', { base: ref(1), head: ref(2), nobody_reads: 1 }),
    diff('compare with a key that may only write', { base: ref(1), head: ref(2) }, { key: 'write' }),
    post('dependents', `${at}/dependents`, { [`${singular}_ref`]: { slug: 'bot' } }),
    post('dependents of a revision', `${at}/dependents`, {
      [`${singular}_revision_ref`]: { id: '<second>' },
    }),
    post('dependents of nothing', `${at}/dependents`, {}),
    post('dependents of what is not there', `${at}/dependents`, { [`${singular}_ref`]: { slug: 'nobody' } }),
    post('the graph', `/${path}/graph`, { [`${singular}_ref`]: { slug: 'bot' } }),
    text === undefined
      ? get('who wrote a text, where there are none', `${at}/<third>/blame?place=/script`)
      : get('who wrote its text', `${at}/<third>/blame?place=${text}`),
  ]
}

function merging({ path, singular, data }: RecordedSurface): Step[] {
  const at = `/${path}`
  const commit = (title: string, as: string, slug: string, ...marks: readonly string[]): Step =>
    post(
      title,
      `${at}/revisions/commit`,
      {
        [`${singular}_revision`]: { message: title, data: data(...marks) },
        [`${singular}_variant_ref`]: { slug },
      },
      { as },
    )
  const merge = (title: string, body: object, more: object = {}): Step =>
    post(title, `${at}/variants/merge`, body, more)
  const between = (source: string, target: string): object => ({
    source: { variant: { slug: source } },
    target: { variant: { slug: target } },
  })
  const fork = (slug: string, of = 'bot'): Step =>
    post(
      `fork ${slug}`,
      `${at}/variants/fork`,
      { [`${singular}_variant`]: { slug }, [`${singular}_variant_ref`]: { slug: of } },
      { as: slug },
    )
  return [
    post(
      'an artifact with a revision',
      `/simple/${path}`,
      { [singular]: { slug: 'bot', data: data('n1') } },
      { as: 'bot' },
    ),
    fork('ahead'),
    commit('Ahead', 'ahead first', 'ahead', 'n1', 'n2'),
    post('compare the two', `${at}/variants/compare`, {
      base: { variant: { slug: 'bot' } },
      head: { variant: { slug: 'ahead' } },
    }),
    post('compare with nothing', `${at}/variants/compare`, { base: { variant: { slug: 'bot' } } }),
    post('compare with what is not there', `${at}/variants/compare`, {
      base: { variant: { slug: 'bot' } },
      head: { variant: { slug: 'nobody' } },
    }),
    merge('merge as a dry run', { ...between('ahead', 'bot'), dry_run: true }),
    merge(
      'merge as a dry run with a key that may only read',
      { ...between('ahead', 'bot'), dry_run: true },
      { key: 'read' },
    ),
    merge('merge with a key that may only read', between('ahead', 'bot'), { key: 'read' }),
    merge('merge forward', between('ahead', 'bot'), { as: 'forward' }),
    merge('merge again', between('ahead', 'bot')),
    fork('left'),
    fork('right'),
    commit('Left', 'left first', 'left', 'n1', 'n2', 'left'),
    commit('Right', 'right first', 'right', 'n1', 'n2', 'right'),
    post('compare what parted', `${at}/variants/compare`, {
      base: { variant: { slug: 'left' } },
      head: { variant: { slug: 'right' } },
    }),
    merge('merge what both changed, as a dry run', { ...between('left', 'right'), dry_run: true }),
    merge('merge what both changed', { ...between('left', 'right'), message: 'Merge left' }),
    merge('merge with resolutions of no conflict', {
      ...between('left', 'right'),
      resolutions: [{ place: '/nothing', take: 'source' }, { all: 'source' }],
    }),
    merge('merge with resolutions that are a text', { ...between('left', 'right'), resolutions: 'x' }),
    merge('merge with a member of another service', { ...between('left', 'right'), strategy: 'theirs' }),
    merge('merge upon a target that moved', {
      ...between('left', 'right'),
      expected_target: NOBODY,
      resolutions: [{ all: 'source' }],
    }),
    merge('merge and take one side, as a dry run', {
      ...between('left', 'right'),
      resolutions: [{ all: 'source' }],
      dry_run: true,
    }),
    merge(
      'merge and take one side',
      { ...between('left', 'right'), resolutions: [{ all: 'source' }] },
      { as: 'sided' },
    ),
    merge('merge without a source', { target: { variant: { slug: 'bot' } } }),
    merge('merge without a target', { source: { variant: { slug: 'bot' } } }),
    merge('merge what is not there', between('nobody', 'bot')),
    merge('merge into what is not there', between('bot', 'nobody')),
    merge('merge with itself', between('bot', 'bot')),
    merge('merge with a member that nobody reads', { ...between('left', 'bot'), nobody_reads: 1 }),
    merge('merge with a message that is a number', { ...between('left', 'bot'), message: 7 }),
    merge('merge without a key', between('left', 'bot'), { key: 'none' }),
    post(
      'another artifact',
      `/simple/${path}`,
      { [singular]: { slug: 'stranger', data: data('n1') } },
      { as: 'stranger' },
    ),
    merge('merge of strangers', between('stranger', 'bot')),
    post(
      'cherry-pick',
      `${at}/revisions/cherry-pick`,
      { revision: { id: '<left first>' }, target: { variant: { slug: 'bot' } } },
      { as: 'picked' },
    ),
    post('cherry-pick as a dry run', `${at}/revisions/cherry-pick`, {
      revision: { id: '<right first>' },
      target: { variant: { slug: 'bot' } },
      dry_run: true,
    }),
    post('cherry-pick nothing', `${at}/revisions/cherry-pick`, { target: { variant: { slug: 'bot' } } }),
    post('cherry-pick what is not there', `${at}/revisions/cherry-pick`, {
      revision: { id: NOBODY },
      target: { variant: { slug: 'bot' } },
    }),
    post('revert', `${at}/revisions/revert`, { revision: { id: '<picked>' } }, { as: 'reverted' }),
    post('revert as a dry run', `${at}/revisions/revert`, { revision: { id: '<reverted>' }, dry_run: true }),
    post('revert the first of a line', `${at}/revisions/revert`, {
      revision: { id: '<bot revision>' },
      target: { variant: { slug: 'bot' } },
    }),
    post('revert what several variants hold', `${at}/revisions/revert`, {
      revision: { id: '<bot revision>' },
    }),
    post('revert nothing', `${at}/revisions/revert`, {}),
    post('revert what is not there', `${at}/revisions/revert`, { revision: { id: NOBODY } }),
    post(
      'revert with a key that may only read',
      `${at}/revisions/revert`,
      { revision: { id: '<reverted>' } },
      { key: 'read' },
    ),
    post('the graph', `${at}/graph`, { [`${singular}_ref`]: { slug: 'bot' } }),
    post('archive the target', `${at}/variants/<right>/archive`),
    merge('merge into the archived', between('left', 'right')),
    post('restore as a dry run', `${at}/revisions/restore`, {
      revision: { id: '<bot revision>' },
      target: { variant: { slug: 'bot' } },
      dry_run: true,
    }),
    post('restore', `${at}/revisions/restore`, {
      revision: { id: '<bot revision>' },
      target: { variant: { slug: 'bot' } },
    }),
    post('restore what is there', `${at}/revisions/restore`, {
      revision: { id: '<bot revision>' },
      target: { variant: { slug: 'bot' } },
    }),
    post('restore what several variants hold', `${at}/revisions/restore`, {
      revision: { id: '<bot revision>' },
    }),
    post('restore nothing', `${at}/revisions/restore`, {}),
  ]
}

function flat({ path, singular, data, wrong }: RecordedSurface): Step[] {
  const at = `/simple/${path}`
  const create = (title: string, fields: unknown, as?: string): Step =>
    post(title, at, { [singular]: fields }, as === undefined ? {} : { as })
  return [
    create(
      'create with data',
      {
        slug: 'bot',
        name: 'Bot',
        description: 'Says',
        tags: { a: 'one' },
        meta: { b: 2 },
        message: 'Begin',
        data: data('n1'),
      },
      'bot',
    ),
    create('create without data', { slug: 'bare' }, 'bare'),
    create('create without a slug', { name: 'Un named', data: data('n1') }, 'unnamed'),
    create('create with a slug that is taken', { slug: 'bot', data: data('n1') }),
    create('create with a member that nobody reads', { slug: 'odd', nobody_reads: 1 }),
    ...wrong.map(([what, wrongData], n) =>
      create(`create with ${what}`, { slug: `wrong-${n}`, data: wrongData }),
    ),
    post('create with a key that may only read', at, { [singular]: { slug: 'x' } }, { key: 'read' }),
    get('read', `${at}/<bot>`),
    get('read by slug', `${at}/bot`),
    get('read without a revision', `${at}/bare`),
    get('read what is not there', `${at}/nobody`),
    put('edit the header', `${at}/<bot>`, { [singular]: { name: 'Renamed' } }),
    put(
      'edit the payload',
      `${at}/<bot>`,
      { [singular]: { data: data('n1', 'n2'), message: 'More' } },
      { as: 'edited' },
    ),
    put('edit the payload into the same', `${at}/<bot>`, { [singular]: { data: data('n1', 'n2') } }),
    put('edit only if it changes something', `${at}/<bot>`, {
      if_changed: true,
      [singular]: { data: data('n1', 'n2') },
    }),
    put('edit with the id of another', `${at}/<bot>`, { [singular]: { id: '<bare>', name: 'x' } }),
    put('edit the slug', `${at}/<bot>`, { [singular]: { slug: 'x' } }),
    put('edit what is not there', `${at}/${NOBODY}`, { [singular]: { name: 'x' } }),
    put('edit with a key that may only read', `${at}/<bot>`, { [singular]: { name: 'x' } }, { key: 'read' }),
    ...wrong
      .slice(0, 2)
      .map(([what, wrongData]) =>
        put(`edit with ${what}`, `${at}/<bot>`, { [singular]: { data: wrongData } }),
      ),
    post('list', `${at}/query`),
    post('list by name', `${at}/query`, { windowing: { order: 'name', limit: 1 } }),
    post('list by fields', `${at}/query`, { [singular]: { name: 'Renamed' } }),
    post('list by references', `${at}/query`, { [`${singular}_refs`]: [{ slug: 'bot' }] }),
    post('list with a member that nobody reads', `${at}/query`, { nobody_reads: 1 }),
    post('archive', `${at}/<bare>/archive`),
    post('archive again', `${at}/<bare>/archive`),
    post('bring back', `${at}/<bare>/unarchive`),
    post('archive what is not there', `${at}/${NOBODY}/archive`),
    post('bring back what is not there', `${at}/${NOBODY}/unarchive`),
    del('remove', `${at}/<bare>`),
    del('remove again', `${at}/<bare>`),
    get('read what was removed', `${at}/bare`),
    create('create in the place of what was removed', { slug: 'bare' }),
    get('the trash', '/trash'),
    post('bring the removed back', `${at}/<bare>/undelete`),
    post('bring the removed back again', `${at}/<bare>/undelete`),
    post('bring back what was never removed', `${at}/${NOBODY}/undelete`),
    del('remove what is not there', `${at}/${NOBODY}`),
    del('remove with a key that may only read', `${at}/<bot>`, { key: 'read' }),
    del('remove another, unless something refers to it', `${at}/<unnamed>`),
    del('purge with a key that may write', '/trash/<unnamed>', { key: 'write' }),
    del('purge it, if it was removed', '/trash/<unnamed>'),
    del('purge again', '/trash/<unnamed>'),
    get('the trash, empty', '/trash'),
  ]
}
