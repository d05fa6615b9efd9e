import { expect } from 'chai'
import { type RunningService, startService } from '../support/servers/service.ts'
import { postEverywhere } from './post-everywhere.ts'
import { uploadFormOf } from './upload-form-of.ts'

interface Row {
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Every request that the interface writes out for testsets, sent as it stands there, and what sections 3 and 9 say of them. */
describe('interface: testsets', () => {
  let service: RunningService

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const everywhere = (path: string, body: object) => postEverywhere(service, path, body)
  const capitals = [
    { data: { country: 'Norway', capital: 'Oslo' } },
    { data: { country: 'Peru', capital: 'Lima' } },
  ]
  const csv = 'country,capital\r\nKenya,Nairobi\r\nJapan,Tokyo\r\n'
  const json = '[{"country":"Kenya","capital":"Nairobi"},{"country":"Japan","capital":"Tokyo"}]'
  const files = [
    ['csv', csv],
    ['json', json],
  ] as const
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

  let stories = 0
  /** A testset of two rows, made by the first request of 4.6. */
  const tell = async () => {
    const slug = `capitals-${++stories}`
    const { status, text, body } = await service.post('/simple/testsets/', {
      testset: { slug, name: 'Capitals', data: { testcases: capitals } },
    })
    expect(status, text).to.equal(200)
    return { slug, ...body.testset }
  }
  const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)
  const capitalsIn = ({ testcases }: { readonly testcases: readonly Row[] }) =>
    testcases.map(({ data }) => data['capital'])
  /** A commit of the form of 4.6 on the latest revision that the caller knows. */
  const commit = async (id: string, revisionId: string, delta: object) => {
    const { status, text, body } = await service.post('/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_id: id,
        testset_revision_id: revisionId,
        message: 'Change rows',
        delta,
      },
    })
    expect(status, text).to.equal(200)
    return body.testset_revision
  }

  describe('4.6 simple testsets', () => {
    // interface 8.10
    it('POST /simple/testsets/ answers a flat record with id, revision_id and the ids of the testcases', async () => {
      const addresses = [
        '/simple/testsets/',
        '/simple/testsets',
        '/api/simple/testsets/',
        '/api/simple/testsets',
      ]
      for (const [n, path] of addresses.entries()) {
        const { body } = await service.post(path, {
          testset: { slug: `flat-${n}`, name: 'Capitals', data: { testcases: capitals } },
        })
        expect(body.count).to.equal(1)
        const { id, revision_id, slug, name, data } = body.testset
        expect([slug, name]).to.deep.equal([`flat-${n}`, 'Capitals'])
        for (const it of [id, revision_id, ...data.testcase_ids]) expect(it).to.match(uuid)
        expect(data.testcase_ids).to.deep.equal(idsOf(data.testcases))
        expect(capitalsIn(data)).to.deep.equal(['Oslo', 'Lima'])
        for (const row of data.testcases) expect(row.testset_id).to.equal(id)
      }
    })

    it('GET /simple/testsets/{id} merges artifact, variant and latest revision, testcases included', async () => {
      const { id, revision_id, slug } = await tell()
      const next = await commit(id, revision_id, {
        rows: { add: [{ data: { country: 'Cuba', capital: 'Havana' } }] },
      })
      for (const path of [`/simple/testsets/${id}`, `/api/simple/testsets/${id}/`]) {
        const { body } = await service.get(path)
        expect(body.testset).to.include({ id, slug, name: 'Capitals', revision_id: next.id })
        expect(body.testset.variant_id).to.equal(next.testset_variant_id)
        expect(capitalsIn(body.testset.data)).to.deep.equal(['Oslo', 'Lima', 'Havana'])
      }
    })

    for (const [file_type, file] of files) {
      // interface 8.16
      it(`POST /simple/testsets/upload makes a testset and its first revision of ${file_type}`, async () => {
        const fields = { file_type, testset_slug: `uploaded-${file_type}`, testset_name: 'Uploaded' }
        const { status, text, body } = await service.post(
          '/simple/testsets/upload',
          uploadFormOf(file, fields),
        )
        expect(status, text).to.equal(200)
        expect(body.testset).to.include({ slug: `uploaded-${file_type}`, name: 'Uploaded' })
        expect(capitalsIn(body.testset.data)).to.deep.equal(['Nairobi', 'Tokyo'])
        const ref = { testset_ref: { id: body.testset.id } }
        const { testset_revision } = (await everywhere('/testsets/revisions/retrieve', ref)).body
        expect(testset_revision).to.include({ id: body.testset.revision_id, version: 1 })
      })

      it(`POST /simple/testsets/{id}/upload commits a revision of ${file_type}`, async () => {
        const { id, revision_id } = await tell()
        const { status, text, body } = await service.post(
          `/simple/testsets/${id}/upload`,
          uploadFormOf(file, { file_type }),
        )
        expect(status, text).to.equal(200)
        expect(body.testset.id).to.equal(id)
        expect(body.testset.revision_id).to.not.equal(revision_id)
        expect(capitalsIn(body.testset.data)).to.deep.equal(['Nairobi', 'Tokyo'])
      })
    }
  })

  describe('4.6 testset revisions', () => {
    // interface 8.11
    it('POST /testsets/revisions/commit with rows.add answers the new revision', async () => {
      const { id, revision_id, data } = await tell()
      const revision = await commit(id, revision_id, {
        rows: { add: [{ data: { country: 'Cuba', capital: 'Havana' } }] },
      })
      expect(revision).to.include({ version: 2, message: 'Change rows', testset_id: id })
      expect(revision).to.include.keys('id', 'author', 'date', 'testset_variant_id')
      expect(revision.data.testcase_ids.slice(0, 2)).to.deep.equal(data.testcase_ids)
      expect(capitalsIn(revision.data)).to.deep.equal(['Oslo', 'Lima', 'Havana'])
    })

    // interface 5.2
    it('POST /testsets/revisions/retrieve takes a testset, a variant or a revision', async () => {
      const { id, slug, variant_id, revision_id, data } = await tell()
      for (const references of [
        { testset_ref: { id } },
        { testset_ref: { slug } },
        { testset_variant_ref: { id: variant_id } },
        { testset_variant_ref: { slug } },
        { testset_revision_ref: { id: revision_id } },
        { testset_revision_ref: { slug, version: 1 } },
      ]) {
        const { body } = await everywhere('/testsets/revisions/retrieve', references)
        expect(body.testset_revision.id).to.equal(revision_id)
        expect(body.testset_revision.data).to.deep.equal(data)
      }
    })

    // interface 8.15
    it('of include_testcases and include_testcase_ids each is true unless it is false', async () => {
      const { id, data } = await tell()
      const { testcase_ids, testcases } = data
      for (const [options, shown] of [
        [{}, data],
        [{ include_testcases: true, include_testcase_ids: true }, data],
        [{ include_testcases: null, include_testcase_ids: null }, data],
        [{ include_testcases: false }, { testcase_ids }],
        [{ include_testcase_ids: false }, { testcases }],
        [{ include_testcases: false, include_testcase_ids: false }, {}],
      ]) {
        const { body } = await everywhere('/testsets/revisions/retrieve', { testset_ref: { id }, ...options })
        expect(body.testset_revision.data, JSON.stringify(options)).to.deep.equal(shown)
      }
    })

    for (const [file_type, file] of files) {
      it(`POST /testsets/revisions/{id}/upload commits a revision of ${file_type}`, async () => {
        const { revision_id } = await tell()
        const { status, text, body } = await service.post(
          `/testsets/revisions/${revision_id}/upload`,
          uploadFormOf(file, { file_type }),
        )
        expect(status, text).to.equal(200)
        expect(body.testset_revision.version).to.equal(2)
        expect(capitalsIn(body.testset_revision.data)).to.deep.equal(['Nairobi', 'Tokyo'])
      })
    }

    it('POST /testsets/revisions/{id}/download answers CSV or JSON, which can be uploaded again', async () => {
      const { revision_id, data } = await tell()
      const [path, upload] = ['download', 'upload'].map((it) => `/testsets/revisions/${revision_id}/${it}`)
      const asCsv = await service.post(`${path}?file_type=csv`)
      expect(asCsv.headers.get('content-type')).to.match(/^text\/csv/)
      expect(asCsv.text.split('\r\n')[0]).to.equal('country,capital,__id__,__dedup_id__')
      const asJson = await service.post(`${path}?file_type=json`)
      expect(asJson.headers.get('content-type')).to.match(/^application\/json/)
      expect(asJson.body.map(({ __id__ }: { __id__: string }) => __id__)).to.deep.equal(data.testcase_ids)
      for (const [file_type, { text }] of [
        ['csv', asCsv],
        ['json', asJson],
      ] as const) {
        const { body } = await service.post(upload ?? '', uploadFormOf(text, { file_type }))
        expect(body.testset_revision.data.testcase_ids).to.deep.equal(data.testcase_ids)
      }
    })

    it('POST /testsets/{id}/archive and /unarchive set and clear deleted_at', async () => {
      const { id } = await tell()
      const archived = await everywhere(`/testsets/${id}/archive`, {})
      expect(archived.body.testset.deleted_at).to.match(/Z$/)
      const listed = async (body: object) =>
        (await everywhere('/testsets/query', body)).body.testsets.map((it: { id: string }) => it.id)
      expect(await listed({})).to.not.include(id)
      expect(await listed({ include_archived: true })).to.include(id)
      const restored = await everywhere(`/testsets/${id}/unarchive`, {})
      expect(restored.body.testset).to.include({ id }).and.to.not.have.property('deleted_at')
    })
  })

  describe('3.4, 3.5 and 9.8', () => {
    // interface 8.2
    it('editing a row makes a testcase with a new id; the old one stays reachable by its own', async () => {
      const { id, revision_id, data } = await tell()
      const [oslo, lima] = data.testcases
      const before = (await service.get(`/testcases/${oslo.id}`)).text
      const edited = { id: oslo.id, data: { ...oslo.data, capital: 'Christiania' } }
      const revision = await commit(id, revision_id, { rows: { replace: [edited] } })
      const [newId, ...others] = revision.data.testcase_ids
      expect(newId).to.not.equal(oslo.id)
      expect(others).to.deep.equal([lima.id])
      await commit(id, revision.id, { rows: { remove: [newId, lima.id] } })
      expect((await service.get(`/testcases/${oslo.id}`)).text).to.equal(before)
      expect((await service.get(`/testcases/${newId}`)).body.testcase.data.capital).to.equal('Christiania')
      await service.post(`/testsets/${id}/archive`)
      expect((await service.get(`/testcases/${oslo.id}`)).text).to.equal(before)
    })

    // interface 1.18, 1.12
    it('a pinned revision stays as it is, byte by byte, whatever is committed after it', async () => {
      const { id, slug, revision_id, data } = await tell()
      const pinned = [{ id: revision_id }, { slug, version: 1 }, { slug: `${slug}-1` }]
      const read = async () => {
        const texts = [(await service.get(`/testsets/revisions/${revision_id}`)).text]
        for (const testset_revision_ref of pinned)
          texts.push((await service.post('/testsets/revisions/retrieve', { testset_revision_ref })).text)
        texts.push(
          (await service.post('/testcases/query', { testset_revision_ref: { id: revision_id } })).text,
        )
        return texts
      }
      const before = await read()
      let latest = await commit(id, revision_id, {
        rows: {
          add: [{ data: { country: 'Cuba', capital: 'Havana', area: 1 } }],
          remove: [data.testcase_ids[1]],
        },
      })
      latest = await commit(id, latest.id, { columns: { remove: ['country'], add: ['continent'] } })
      await service.post(`/testsets/revisions/${latest.id}/upload`, uploadFormOf(csv, { file_type: 'csv' }))
      expect(await read()).to.deep.equal(before)
    })

    it('ids are content hashes: equal rows of one testset are one row, with one id in all its revisions', async () => {
      const { id, revision_id, data } = await tell()
      const [first] = capitals
      const again = await commit(id, revision_id, {
        rows: { add: [first, { data: { capital: 'Oslo', country: 'Norway' } }] },
      })
      expect(again.data.testcase_ids).to.deep.equal(data.testcase_ids)
      const removed = await commit(id, again.id, { rows: { remove: [data.testcase_ids[0]] } })
      const back = await commit(id, removed.id, { rows: { add: [first] } })
      expect(back.data.testcase_ids).to.deep.equal([...data.testcase_ids].reverse())
    })
  })
})
