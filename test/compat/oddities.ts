import type { Files, OddGit } from './odd-git.ts'
import { SANE } from './odd-git.ts'

/** Something that plain git, or a disk, can do to the repository of an artifact. */
export type Oddity = (it: OddGit) => void

const LARGE = 10 * 1024 * 1024
const by = (author: string, committer = author): string => `author ${author}\ncommitter ${committer}\n\nOdd\n`
const dated = (date: string) => (it: OddGit) => it.commit(by(`A <a@x> ${date}`))
const record = (change: object) => (it: OddGit) => it.changedRecord(change)
const files = (some: Files) => (it: OddGit) => it.files(some)
const DATA = '{"parameters": {}}\n'
const NOBODY = 'f'.repeat(40)

/** Commits that nobody makes with `git commit`. */
const COMMITS: Readonly<Record<string, Oddity>> = {
  'a date in the year 287166': dated('9000000000000 +0000'),
  'a date of 30 digits': dated(`${'9'.repeat(30)} +0000`),
  'a date of 400 digits': dated(`${'9'.repeat(400)} +0000`),
  'a date before 1970': dated('-1 +0000'),
  'a date that is a word': dated('yesterday'),
  'no date': dated(''),
  'a time zone of +9999': dated('1700000000 +9999'),
  'a time zone of -0000': dated('1700000000 -0000'),
  'a time zone of six digits': dated('1700000000 +051800'),
  'no time zone': dated('1700000000'),
  'an author without email': (it) => it.commit(by('Ann 1700000000 +0000')),
  'an author of nothing': (it) => it.commit(by('')),
  'no author': (it) => it.commit('committer C <c@x> 1700000000 +0000\n\nOdd\n'),
  'no committer': (it) => it.commit('author A <a@x> 1700000000 +0000\n\nOdd\n'),
  'no headers but its tree': (it) => it.commit('\n'),
  'no empty line': (it) => it.commit('author A <a@x> 1 +0000'),
  'Latin-1': (it) =>
    it.commit(
      Buffer.from(
        by('J\xf6rg <j@x> 1 +0000').replace('\n\n', '\nencoding ISO-8859-1\n\nGr\xfc\xdfe '),
        'latin1',
      ),
    ),
  'bytes that are no UTF-8': (it) => it.commit(Buffer.from(by('\xff\xfe\xc0 <\xff> 1 +0000'), 'latin1')),
  'NUL in its message': (it) => it.commit(`${SANE}a\0b`),
  'NUL in its author': (it) => it.commit(by('A\0B <a@x> 1 +0000')),
  'a message of 10 MB': (it) => it.commit(`${SANE}${'m'.repeat(LARGE)}`),
  'an author of 1 MB': (it) => it.commit(by(`${'A'.repeat(1_000_000)} <a@x> 1 +0000`)),
  'a thousand parents': (it) => it.commit(SANE, { parent: `parent ${it.head()}\n`.repeat(1000) }),
  'a parent that is missing': (it) => it.commit(SANE, { parent: `parent ${NOBODY}\n` }),
  'a parent that is a blob': (it) => it.commit(SANE, { parent: `parent ${it.object('blob', 'x')}\n` }),
  'a parent line of nonsense': (it) => it.commit(SANE, { parent: 'parent nonsense\n' }),
  'a tree that is missing': (it) => it.commit(SANE, { tree: NOBODY }),
  'a tree that is a blob': (it) => it.commit(SANE, { tree: it.object('blob', 'x') }),
  'a tree that is a commit': (it) => it.commit(SANE, { tree: it.head() }),
  'a tree of nonsense': (it) => it.commit(SANE, { tree: it.object('tree', 'nonsense') }),
  'a tree that is cut off': (it) => it.commit(SANE, { tree: it.object('tree', '100644 data.json\0abc') }),
  'no bytes at all': (it) => it.ref(`refs/heads/${it.branch}`, it.object('commit', '')),
  'trailers of nonsense': (it) =>
    it.commit(`${SANE}\nVariant: ../../x\nSlug: ../../../secrets.key\nDeploy: \xff\nIdempotency-Key: x\n`),
}

/** Files of a revision. */
const TREES: Readonly<Record<string, Oddity>> = {
  'no files': files({}),
  'a data.json that is no JSON': files({ 'data.json': '{"parameters": ' }),
  'a data.json that is a list': files({ 'data.json': '[1]' }),
  'a data.json that is empty': files({ 'data.json': '' }),
  'a data.json that is no UTF-8': files({ 'data.json': Buffer.from([0x22, 0xff, 0x22]) }),
  'a data.json that is a folder': files({ 'data.json': { x: 'y' } }),
  'a data.json of wrong types': files({ 'data.json': '{"uri": 5, "schemas": "x", "url": [], "headers": 1}' }),
  'a data.json of 10 MB': files({ 'data.json': JSON.stringify({ parameters: { text: 'x'.repeat(LARGE) } }) }),
  'a data.json 50,000 deep': files({ 'data.json': `${'['.repeat(50_000)}${']'.repeat(50_000)}` }),
  'a data.json with __proto__': files({
    'data.json': '{"parameters": {"__proto__": {"a": 1}}, "__proto__": 1}',
  }),
  'a data.json that is missing': (it) =>
    it.commit(SANE, {
      tree: it.git(['mktree', '--missing'], `100644 blob ${NOBODY}\tdata.json\n`),
    }),
  'a data.json that is a symbolic link': (it) =>
    it.commit(SANE, { tree: it.git(['mktree'], `120000 blob ${it.object('blob', 'x')}\tdata.json\n`) }),
  'a data.json that is a submodule': (it) =>
    it.commit(SANE, { tree: it.git(['mktree'], `160000 commit ${it.head()}\tdata.json\n`) }),
  'a script that is missing': files({ 'data.json': '{"script": "script.py", "runtime": "python"}' }),
  'a revision.json that is no JSON': files({ 'data.json': DATA, 'revision.json': 'x' }),
  'a revision.json of wrong types': files({
    'data.json': DATA,
    'revision.json': '{"name": 5, "flags": {"a": "b"}}',
  }),
  'names that are no UTF-8': (it) =>
    it.commit(SANE, {
      tree: it.object(
        'tree',
        Buffer.concat([
          Buffer.from('100644 \xff\xfe\0', 'latin1'),
          Buffer.from(it.object('blob', 'x'), 'hex'),
        ]),
      ),
    }),
}

/** Refs that are none, or are none of ours. */
const REFS: Readonly<Record<string, Oddity>> = {
  'a branch that is a blob': (it) => it.ref('refs/heads/blob', it.object('blob', 'x')),
  'a branch that is a tree': (it) => it.ref('refs/heads/tree', it.tree({})),
  'a branch that is an annotated tag': (it) => {
    it.git(['tag', '-a', '-m', 'x', 'annotated', it.head()])
    it.ref('refs/heads/tagged', it.git(['rev-parse', 'annotated']))
  },
  'a branch that is missing': (it) => it.ref('refs/heads/missing', NOBODY),
  'its own branch is missing': (it) => it.ref(`refs/heads/${it.branch}`, NOBODY),
  'its own branch is a blob': (it) => it.ref(`refs/heads/${it.branch}`, it.object('blob', 'x')),
  'its own branch is gone': (it) => it.run(`rm -f refs/heads/${it.branch} packed-refs`),
  'a ref of no bytes': (it) => it.ref('refs/heads/empty', ''),
  'a ref of NULs': (it) => it.ref('refs/heads/nul', Buffer.alloc(41)),
  'a ref of 10 MB': (it) => it.ref('refs/heads/large', Buffer.alloc(LARGE, 'a')),
  'a ref that is a dangling link': (it) => it.run('mkdir -p refs/heads; ln -s nowhere refs/heads/dangling'),
  'a ref that is a link to itself': (it) => it.run('mkdir -p refs/heads; ln -s itself refs/heads/itself'),
  'a ref that is a FIFO': (it) => it.run('mkdir -p refs/heads; mkfifo refs/heads/fifo'),
  'a ref that is a symbolic ref to itself': (it) => it.ref('refs/heads/around', 'ref: refs/heads/around\n'),
  'refs/heads is a file': (it) => it.file('refs/heads', 'x'),
  'refs/heads is a link to itself': (it) =>
    it.run('mkdir -p refs; rm -rf refs/heads; ln -s heads refs/heads'),
  'refs is a file': (it) => it.file('refs', 'x'),
  'a branch of deeper names': (it) => it.ref('refs/heads/a/b', it.head()),
  'branches that are no slugs': (it) => {
    for (const name of ['@', '-x', 'ümlaut', 'a b', '.hidden', '__svc__x', 'con', 'x'.repeat(250)])
      it.ref(`refs/heads/${name}`, it.head())
  },
  'branches that differ in case': (it) => it.ref(`refs/heads/${it.branch.toUpperCase()}`, it.head()),
  'a tag of a tree': (it) => it.ref('refs/tags/tree', it.tree({})),
  'a tag that is missing': (it) => it.ref('refs/tags/missing', NOBODY),
  'a tag object of nonsense': (it) => it.ref('refs/tags/nonsense', it.object('tag', 'nonsense')),
  'a tag object of what is missing': (it) =>
    it.ref('refs/tags/of-nothing', it.object('tag', `object ${NOBODY}\ntype commit\ntag x\n\n`)),
  'a tag that reads as a version': (it) => it.ref(`refs/tags/${it.branch}-1`, it.head()),
  'a mirror that is a blob': (it) => it.ref('refs/environments/production', it.object('blob', 'x')),
  'notes that are a blob': (it) => it.ref('refs/notes/evaluations', it.object('blob', 'x')),
  'a packed-refs of nonsense': (it) => it.file('packed-refs', 'nonsense\n'),
  'a packed-refs of NULs': (it) => it.file('packed-refs', Buffer.alloc(1000)),
  'a packed-refs that is a folder': (it) => it.run('rm -f packed-refs; mkdir packed-refs'),
  'a packed-refs that is a link to itself': (it) =>
    it.run('rm -f packed-refs; ln -s packed-refs packed-refs'),
  'a HEAD of nonsense': (it) => it.file('HEAD', 'nonsense'),
  'a HEAD of no bytes': (it) => it.file('HEAD', ''),
  'a HEAD that leads out': (it) => it.file('HEAD', 'ref: refs/heads/../../../../x\n'),
  'a HEAD that is a link': (it) => it.run(`rm HEAD; ln -s refs/heads/${it.branch} HEAD`),
  'a HEAD that is a folder': (it) => it.run('rm HEAD; mkdir HEAD'),
  'a HEAD that is a FIFO': (it) => it.run('rm HEAD; mkfifo HEAD'),
  'no HEAD': (it) => it.run('rm HEAD'),
}

/** What the registry says of an artifact, said by somebody else. */
const RECORDS: Readonly<Record<string, Oddity>> = {
  'no record': (it) => it.run('rm -rf refs/meta packed-refs'),
  'a record that is missing': (it) => it.ref('refs/meta/artifact', NOBODY),
  'a record that is a blob': (it) => it.ref('refs/meta/artifact', it.object('blob', 'x')),
  'a record that is a tag': (it) => it.ref('refs/meta/artifact', it.object('tag', 'nonsense')),
  'a record without artifact.json': (it) => it.meta({}),
  'a record that is no JSON': (it) => it.meta({ 'artifact.json': 'x' }),
  'a record of 10 MB': record({ description: 'x'.repeat(LARGE) }),
  'a record 50,000 deep': (it) => it.meta({ 'artifact.json': `${'['.repeat(50_000)}${']'.repeat(50_000)}` }),
  'a record that is null': (it) => it.meta({ 'artifact.json': 'null' }),
  'an artifact.json that is a folder': (it) => it.meta({ 'artifact.json': { x: 'y' } }),
  'an id that is a number': record({ id: 5 }),
  'an id that is no UUID': record({ id: 'x' }),
  'an id that leads out': record({ id: '../../../../../x' }),
  'another slug': record({ slug: 'something-else' }),
  'a slug that leads out': record({ slug: '../../x' }),
  'a kind that is none': record({ kind: 'nonsense' }),
  'a creation that is no date': record({ created_at: 'yesterday' }),
  'a creation that is no text': record({ created_at: 5 }),
  'a creation in the year 99999': record({ created_at: '+099999-01-01T00:00:00.000Z' }),
  'a creation of nothing': record({ created_at: '' }),
  'an archiving that is no date': record({ deleted_at: 'x', deleted_by_id: 'x' }),
  'an edit that is no date': record({ updated_at: 'x' }),
  'flags that are words': record({ flags: { is_application: 'yes' } }),
  'flags that are none of ours': record({ flags: { is_nonsense: true, __proto__: true } }),
  'a name that is a list': record({ name: [] }),
  'a name of nothing': record({ name: '' }),
  'tags that are a list': record({ tags: [] }),
  'variants that are a file': (it) =>
    it.meta({ 'artifact.json': JSON.stringify(it.record()), variants: 'x' }),
  'a variant that is no JSON': (it) => it.meta(withVariant(it, it.branch, 'x')),
  'a variant of wrong types': (it) => it.meta(withVariant(it, it.branch, '{"created_at": 5}')),
  'a variant made on no date': (it) =>
    it.meta(withVariant(it, it.branch, '{"created_at": "x", "created_by_id": "x"}')),
  'a variant without a branch': (it) =>
    it.meta(withVariant(it, 'nowhere', '{"created_at": "2024-01-01T00:00:00Z", "created_by_id": "x"}')),
  'a variant that is no slug': (it) =>
    it.meta(withVariant(it, 'no slug', '{"created_at": "2024-01-01T00:00:00Z", "created_by_id": "x"}')),
  'a variant called ..': (it) =>
    it.meta(withVariant(it, '..', '{"created_at": "2024-01-01T00:00:00Z", "created_by_id": "x"}')),
  'a variant that began nowhere': (it) =>
    it.meta(
      withVariant(
        it,
        'cut',
        `{"created_at": "2024-01-01T00:00:00Z", "created_by_id": "x", "start": "${NOBODY}"}`,
      ),
    ),
  'a variant that began at nonsense': (it) =>
    it.meta(
      withVariant(it, 'cut', '{"created_at": "2024-01-01T00:00:00Z", "created_by_id": "x", "start": "../x"}'),
    ),
  'an archived revision that is no id': (it) =>
    it.meta({
      'artifact.json': JSON.stringify(it.record()),
      archived: { 'x.json': '{"deleted_at": "x", "deleted_by_id": "x"}', 'y.json': '{}' },
    }),
}

function withVariant(it: OddGit, slug: string, content: string): Files {
  return { 'artifact.json': JSON.stringify(it.record()), variants: { [`${slug}.json`]: content } }
}

/** The repository's own folder, and what lies beside refs and objects. */
const FOLDERS: Readonly<Record<string, Oddity>> = {
  'a file in its place': (it) => it.run(`cd ..; rm -rf '${it.path}'; echo x > '${it.path}'`),
  'a dangling link in its place': (it) => it.run(`cd ..; rm -rf '${it.path}'; ln -s nowhere '${it.path}'`),
  'a link to itself in its place': (it) =>
    it.run(`cd ..; rm -rf '${it.path}'; ln -s '${it.path}' '${it.path}'`),
  'a FIFO in its place': (it) => it.run(`cd ..; rm -rf '${it.path}'; mkfifo '${it.path}'`),
  'an empty folder in its place': (it) => it.run(`cd ..; rm -rf '${it.path}'; mkdir '${it.path}'`),
  'no objects': (it) => it.run('rm -rf objects'),
  'objects that are a file': (it) => it.file('objects', 'x'),
  'objects that are a link to itself': (it) => it.run('rm -rf objects; ln -s objects objects'),
  'packs that are a file': (it) => it.file('objects/pack', 'x'),
  'packs of no bytes': (it) => it.packs('.pack').forEach((name) => it.file(name, '')),
  'packs of nonsense': (it) => it.packs('.pack').forEach((name) => it.file(name, 'x'.repeat(1000))),
  'packs that are cut off': (it) =>
    it.packs('.pack').forEach((name) => it.file(name, it.bytes(name).subarray(0, 40))),
  'packs that are folders': (it) => it.packs('.pack').forEach((name) => it.run(`rm ${name}; mkdir ${name}`)),
  'indexes of no bytes': (it) => it.packs('.idx').forEach((name) => it.file(name, '')),
  'indexes of nonsense': (it) => it.packs('.idx').forEach((name) => it.file(name, Buffer.alloc(2000, 0xff))),
  'indexes that are FIFOs': (it) => it.packs('.idx').forEach((name) => it.run(`rm ${name}; mkfifo ${name}`)),
  'packs without indexes': (it) => it.run('rm objects/pack/*.idx'),
  'indexes without packs': (it) => it.run('rm objects/pack/*.pack'),
  'an object of no bytes': (it) => {
    it.commit(SANE)
    const oid = it.head()
    it.file(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`, '')
  },
  'an object of nonsense': (it) => {
    it.commit(SANE)
    const oid = it.head()
    it.file(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`, 'x'.repeat(1000))
  },
  'a config of nonsense': (it) => it.file('config', '\0[[[nonsense'),
  'a config that is a folder': (it) => it.run('rm config; mkdir config'),
  'a config of another format': (it) =>
    it.file('config', '[core]\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n'),
  alternates: (it) => it.file('objects/info/alternates', '/nowhere\n'),
  'a shallow file': (it) => it.file('shallow', `${it.head()}\n`),
  'depths of nonsense': (it) => it.file('first-parents', 'x'.repeat(480)),
  'depths that are a folder': (it) => it.run('rm -rf first-parents; mkdir first-parents'),
  'heads of nonsense': (it) => it.file('verified-heads', 'x'),
  'locks that are a file': (it) => it.file('locks', 'x'),
  'locks that are a link to itself': (it) => it.run('rm -rf locks; ln -s locks locks'),
}

/** All of them, by what is odd. */
export const ODDITIES: Readonly<Record<string, Oddity>> = {
  ...COMMITS,
  ...TREES,
  ...REFS,
  ...RECORDS,
  ...FOLDERS,
}

/** What can be odd about the payload of a testset. */
export const ODD_TESTSETS: Readonly<Record<string, Oddity>> = {
  'rows that are a file': files({ testcases: 'x', 'columns.json': '["a"]' }),
  'a row that is no JSON': files(rows('x\n')),
  'a row that is a list': files(rows('[1]\n')),
  'a row that is a number': files(rows('5\n')),
  'a row of no bytes': files(rows('')),
  'a row that is no UTF-8': files(rows(Buffer.from([0x7b, 0xff, 0x7d]))),
  'a row without a dedup id': files(rows('{"a":1}\n')),
  'a row of wrong types': files(rows('{"testcase_dedup_id":5}\n')),
  'a row of 10 MB': files(rows(`{"a":"${'x'.repeat(LARGE)}"}\n`)),
  'a row 50,000 deep': files(rows(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`)),
  'a row with nonsense beside it': files({
    testcases: { '00': { '00': { '00.json': '{"a":1}\n', '00.meta.json': 'x' } } },
    'columns.json': '["a"]',
  }),
  'rows in places that are none': files({ testcases: { 'x.json': '{"a":1}\n', y: { 'z.json': '{}' } } }),
  'no columns': files({ testcases: { '00': { '00': { '00.json': '{"a":1}\n' } } } }),
  'columns that are no JSON': files({ ...rows('{"a":1}\n'), 'columns.json': 'x' }),
  'columns of wrong types': files({ ...rows('{"a":1}\n'), 'columns.json': '{"a": 5}' }),
}

function rows(row: string | Buffer): Files {
  return { testcases: { '00': { '00': { '00.json': row } } }, 'columns.json': '["a"]' }
}

/** What can be odd about the payload of an environment. */
export const ODD_ENVIRONMENTS: Readonly<Record<string, Oddity>> = {
  'references that are no JSON': files({ 'references.json': 'x' }),
  'references that are a list': files({ 'references.json': '[]' }),
  'references of wrong types': files({
    'references.json': '{"a.revision": 5, "b.revision": {"workflow": []}}',
  }),
  'references to nothing': files({
    'references.json':
      '{"x.revision": {"workflow_revision": {"id": "0f3c9a1b-e2d4-8000-8000-7d41c0aa93fe"}}}',
  }),
  'references that lead out': files({
    'references.json': '{"../x": {"workflow": {"slug": "../../x"}, "workflow_revision": {"id": "../../x"}}}',
  }),
}
