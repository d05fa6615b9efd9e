import { expect } from 'chai'
import { memoryFs } from '../../src/git/memory-fs.ts'
import { DeliveryBox } from '../../src/webhooks/delivery-box.ts'
import type { Delivery } from '../../src/webhooks/delivery.ts'
import { Lane } from '../../src/webhooks/lane.ts'

const WEBHOOK = '0190b3a0-0000-7000-8000-000000000001'
const DAY = 24 * 60 * 60 * 1000

describe('lanes of deliveries', () => {
  let box: DeliveryBox
  const fs = memoryFs()
  let boxes = 0
  beforeEach(() => (box = new DeliveryBox(fs, `/webhooks/${++boxes}`, WEBHOOK)))

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
    const lane = new Lane(box, now)
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
    const lane = new Lane(box, now)
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
    const lane = new Lane(box, now)
    expect(box.ids()).to.deep.equal([kept.id])
    expect([lane.hasEvent(kept.event_id), lane.hasEvent(old.event_id)]).to.deep.equal([true, false])
  })

  it('keeps the last thousand that are over, and all that wait', async () => {
    const waiting = made()
    const over = Array.from({ length: 1003 }, () => made({ status: 'delivered' }))
    for (const it of [waiting, ...over]) await box.add(it)
    const lane = new Lane(box, now)
    expect(box.ids()).to.deep.equal([waiting.id, ...over.slice(3).map(({ id }) => id)])
    expect(lane.waiting).to.equal(1)
  })

  it('a file that is damaged, or gone, holds up nothing', async () => {
    const [damaged, gone, sound] = [made(), made(), made()]
    for (const it of [damaged, gone, sound]) await box.add(it)
    fs.remove(`/webhooks/${boxes}/deliveries/${damaged.id}.json`)
    fs.append(`/webhooks/${boxes}/deliveries/${damaged.id}.json`, Buffer.from('{'))
    const lane = new Lane(box, now)
    fs.remove(`/webhooks/${boxes}/deliveries/${gone.id}.json`)
    expect(lane.next()).to.equal(undefined)
    expect(lane.next()?.id).to.equal(sound.id)
    const { rows } = await box.query(undefined, () => true)
    expect(rows.map(({ id }) => id)).to.deep.equal([sound.id])
  })
})
