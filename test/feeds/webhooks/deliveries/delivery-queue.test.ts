import { expect } from 'chai'
import { memoryFs } from '../../../../src/storage/memory-fs.ts'
import { type Delivery, DeliveryStore } from '../../../../src/feeds/webhooks/deliveries/delivery-store.ts'
import { DeliveryQueue } from '../../../../src/feeds/webhooks/deliveries/outbox.ts'
import { restsDuring } from '../../../support/rests.ts'

const WEBHOOK = '0190b3a0-0000-7000-8000-000000000001'
const DAY = 24 * 60 * 60 * 1000

describe('lanes of deliveries', () => {
  let box: DeliveryStore
  const fs = memoryFs()
  let boxes = 0
  beforeEach(() => (box = new DeliveryStore(fs, `/webhooks/${++boxes}`, WEBHOOK)))

  const now = (): Date => new Date('2026-03-01T12:00:00Z')
  let events = 0
  const made = (more: Partial<Delivery> = {}): Delivery => {
    const suffix = String(++events).padStart(12, '0')
    const event = {
      event_id: `0190b3a0-0000-7000-8000-${suffix}`,
      event_type: 'artifact.created',
      body: '{}',
    }
    return { ...box.make(event, now()), ...more }
  }
  const at = (milliseconds: number): string => new Date(now().getTime() + milliseconds).toISOString()

  it('sends what is due first, and of equals what was made first', async () => {
    const late = made({ next_attempt_at: at(2000) })
    const [one, two, three] = [made(), made(), made({ next_attempt_at: at(-1000) })]
    for (const it of [late, two, three, one]) await box.add(it)
    const lane = new DeliveryQueue(box, now)
    expect(lane.waiting).to.equal(4)
    const order = []
    for (let next = lane.next(); next; next = lane.next()) {
      order.push(next.id)
      lane.take({ ...next, status: 'delivered' })
    }
    expect(order).to.deep.equal([three.id, one.id, two.id, late.id])
    expect([lane.waiting, lane.nextDue()]).to.deep.equal([0, undefined])
  })

  it('a delivery that failed goes behind those that are due before it', async () => {
    const lane = new DeliveryQueue(box, now)
    const [one, two] = [made(), made()]
    for (const it of [one, two]) {
      await box.add(it)
      lane.take(it)
    }
    lane.take({ ...one, next_attempt_at: at(5000) })
    expect(lane.next()?.id).to.equal(two.id)
    expect(lane.waiting).to.equal(2)
  })

  it('knows its events, until their deliveries are forgotten', async () => {
    const old = made({ status: 'failed', created_at: at(-31 * DAY) })
    const kept = made({ status: 'delivered' })
    for (const it of [kept, old]) await box.add(it)
    const lane = new DeliveryQueue(box, now)
    expect(box.ids()).to.deep.equal([kept.id])
    expect([lane.hasEvent(kept.event_id), lane.hasEvent(old.event_id)]).to.deep.equal([true, false])
  })

  it('keeps the last thousand that are over, and all that wait', async () => {
    const waiting = made()
    const over = Array.from({ length: 1003 }, () => made({ status: 'delivered' }))
    for (const it of [waiting, ...over]) await box.add(it)
    const lane = new DeliveryQueue(box, now)
    expect(box.ids()).to.deep.equal([waiting.id, ...over.slice(3).map(({ id }) => id)])
    expect(lane.waiting).to.equal(1)
  })

  it('keeps fewer of those that are over where they are long, and is full where those that wait are', async () => {
    const body = 'x'.repeat(8 * 1024 ** 2)
    const over = Array.from({ length: 10 }, () => made({ status: 'failed', body }))
    for (const it of over) await box.add(it)
    const lane = new DeliveryQueue(box, now)
    expect(box.ids()).to.deep.equal(over.slice(2).map(({ id }) => id))
    const waiting = Array.from({ length: 129 }, () => made({ body }))
    for (const it of waiting.slice(1)) lane.take(it)
    expect(lane.isFull, '1 GiB').to.equal(false)
    for (const it of waiting) lane.take(it)
    expect(lane.isFull, '8 MiB more').to.equal(true)
    for (const it of waiting.slice(1)) lane.take({ ...it, status: 'delivered' })
    expect([lane.waiting, lane.isFull]).to.deep.equal([1, false])
  })

  it('files that are no deliveries, or copies of others, are passed by', async () => {
    const [one, two] = [made(), made()]
    for (const it of [one, two]) await box.add(it)
    const folder = `/webhooks/${boxes}/deliveries`
    const text = fs.readFile(`${folder}/${one.id}.json`) ?? Buffer.alloc(0)
    for (const name of [
      'x',
      '..',
      'ffffffff-ffff-4fff-8fff-ffffffffffff',
      '0190b3a0-0000-7000-8000-00000000aaaa',
    ])
      fs.append(`${folder}/${name}.json`, text)
    const other = new DeliveryStore(fs, `/webhooks/${boxes}`, '0190b3a0-0000-7000-8000-000000000002')
    expect((await other.query(undefined, () => true)).rows, 'of another webhook').to.deep.equal([])
    const { rows } = await box.query(undefined, () => true)
    expect(rows.map(({ id }) => id)).to.deep.equal([one.id, two.id])
    const lane = new DeliveryQueue(box, now)
    expect([lane.waiting, lane.next()?.id]).to.deep.equal([2, one.id])
  })

  it('many are looked through in slices', async () => {
    for (let count = 0; count < 200; count++) await box.add(made())
    expect(await restsDuring(() => box.query(undefined, () => true))).to.be.greaterThan(3)
  })

  it('nobody asks for more of them than are kept', async () => {
    box.assertRoom()
    const many = { ...fs, readDir: () => Array.from({ length: 52_000 }, () => `${made().id}.json`) }
    expect(() => new DeliveryStore(many, '/webhooks/many', WEBHOOK).assertRoom()).to.throw(
      '52000 deliveries already',
    )
  })

  it('a file that is damaged, or gone, holds up nothing', async () => {
    const [damaged, gone, sound] = [made(), made(), made()]
    for (const it of [damaged, gone, sound]) await box.add(it)
    fs.remove(`/webhooks/${boxes}/deliveries/${damaged.id}.json`)
    fs.append(`/webhooks/${boxes}/deliveries/${damaged.id}.json`, Buffer.from('{'))
    const lane = new DeliveryQueue(box, now)
    fs.remove(`/webhooks/${boxes}/deliveries/${gone.id}.json`)
    expect(lane.next()).to.equal(undefined)
    expect(lane.next()?.id).to.equal(sound.id)
    const { rows } = await box.query(undefined, () => true)
    expect(rows.map(({ id }) => id)).to.deep.equal([sound.id])
  })
})
