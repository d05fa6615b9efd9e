import { expect } from 'chai'
import { EventLog } from '../../../src/http/events/open-events.ts'

describe('events: the log', () => {
  const event = (text: string) => ({ kind: 'artifact' as const, data: { text } })
  const idsIn = (text: string): string[] => [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id)

  it('keeps a thousand events, and no more than 256 KiB of them', () => {
    const log = new EventLog()
    const [start = ''] = idsIn(log.greeting(undefined))
    const ids = Array.from({ length: 1001 }, (_, n) => idsIn(log.add(event(String(n))).text)[0] ?? '')
    expect(log.greeting(start)).to.match(/^event: reset$/m)
    expect(idsIn(log.greeting(ids[0]))).to.deep.equal(ids)
    for (let n = 0; n < 3; n++) log.add(event('x'.repeat(100_000)))
    expect(log.greeting(ids[1000])).to.match(/^event: reset$/m)
    log.add(event('x'.repeat(300_000)))
    expect(log.greeting(undefined)).to.not.contain('data:')
  })

  it('begins with where it is, and from there tells what came after', () => {
    const log = new EventLog()
    log.add(event('before'))
    const [here = ''] = idsIn(log.greeting(undefined))
    expect(log.greeting(undefined)).to.equal(`id: ${here}\n\n`)
    expect(log.greeting(here)).to.equal(`id: ${here}\n\n`)
    const { text: added } = log.add(event('after'))
    expect(log.greeting(here)).to.equal(`id: ${here}\n\n${added}`)
  })

  it('has those ask again who were away over a reset, and those of another log', () => {
    const log = new EventLog()
    const [first = ''] = idsIn(log.add(event('one')).text)
    const [reset = ''] = idsIn(log.addReset().text)
    log.add(event('two'))
    expect(log.greeting(first)).to.match(/^event: reset$/m)
    expect(log.greeting(reset)).to.contain('two').and.not.contain('reset')
    expect(new EventLog().greeting(first)).to.match(/^event: reset$/m)
  })

  it('is one line of data an event, whatever is in it', () => {
    const { text } = new EventLog().add(event('a\r\n\nevent: reset\ndata: x\u2028'))
    expect(text.split('\n')).to.have.length(5)
    expect(text).to.match(/^id: \S+\nevent: artifact\ndata: \{[^\n]*\}\n\n$/)
  })
})
