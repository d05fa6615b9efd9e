import { once } from 'node:events'
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { Refusal } from '../../../../src/errors.ts'
import { ExactNumber, fromEntries } from '../../../../src/base/json/json.ts'
import { startTrace } from '../../../../src/feeds/traces/open-span.ts'
import { type OtlpExporter, openOtlpExporter } from '../../../../src/feeds/otlp-exporter.ts'
import type { Span } from '../../../../src/feeds/traces/span.ts'

interface Received {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Collector {
  readonly url: string
  readonly received: Received[]
  answer: (response: ServerResponse) => void
  stop(): Promise<void>
}

async function startCollector(): Promise<Collector> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      received.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) })
      collector.answer(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  const collector: Collector = {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return collector
}

describe('the exporter to OpenTelemetry', () => {
  let collector: Collector
  let told: string[]
  beforeEach(async () => {
    collector = await startCollector()
    told = []
  })
  afterEach(() => collector.stop())

  const open = (env: Readonly<Record<string, string>>): OtlpExporter => {
    const exporter = openOtlpExporter(env, (sentence) => told.push(sentence))
    if (exporter) return exporter
    throw new Error('nothing is configured')
  }
  const json = () => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  /** Runs a trace and gives its spans. */
  const traced = (work: (root: ReturnType<typeof startTrace>) => void, more = {}): readonly Span[] => {
    let recorded: readonly Span[] = []
    const root = startTrace({ record: (spans) => (recorded = spans), ...more }, 'completion_v0')
    work(root)
    root.end()
    return recorded
  }
  /** Sends spans, and gives what the collector read, as attributes by name. */
  const sent = async (spans: readonly Span[], env: Readonly<Record<string, string>> = json()) => {
    const exporter = open(env)
    exporter.export(spans)
    await exporter.close()
    const [request] = collector.received
    // Tests look into what was sent freely.
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const [resource] = JSON.parse(String(request?.body)).resourceSpans as any[]
    return { request, resource: resource.resource, spans: resource.scopeSpans[0].spans }
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const attributesOf = (holder: any): Record<string, unknown> =>
    Object.fromEntries(
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      holder.attributes.map(({ key, value }: any) => [
        key,
        // eslint-disable-next-line @typescript-eslint/no-explicit-any
        value.arrayValue ? value.arrayValue.values.map((it: any) => it.stringValue) : Object.values(value)[0],
      ]),
    )

  it('sends a trace as JSON: ids, times, kinds, names with dots', async () => {
    const parentId = 'b'.repeat(16)
    const recorded = traced(
      (root) => {
        root
          .setData('inputs', { inputs: { q: 'é' } })
          .setData('outputs', 'plain')
          .setAttribute('flags', { stream: false, is_chat: true })
          .addReference('workflow_revision', { id: 'rev', slug: 'bot', version: '3' })
        root
          .child('chat', 'chat', 'SPAN_KIND_CLIENT')
          .setForeign('gen_ai.operation.name', 'chat')
          .setForeign('gen_ai.request.model', 'gpt-4o-mini')
          .setForeign('gen_ai.usage.input_tokens', 12)
          .setForeign('gen_ai.response.finish_reasons', ['stop'])
          .setUsage({ tokens: { prompt: 12, completion: 3, total: 15 } })
          .end()
      },
      {
        parentId,
        sessionId: 's-1',
        links: new Map([['invocation', { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }]]),
      },
    )
    const { request, spans } = await sent(recorded)
    expect(request?.url).to.equal('/v1/traces')
    expect(request?.headers['content-type']).to.equal('application/json')
    const [child, root] = spans
    const [childSpan, rootSpan] = recorded
    expect(root).to.include({
      traceId: rootSpan?.traceId,
      spanId: rootSpan?.spanId,
      parentSpanId: parentId,
      name: 'completion_v0',
      kind: 2,
    })
    expect(Number(root.startTimeUnixNano) / 1e6).to.be.closeTo(rootSpan?.startTime ?? 0, 0.01)
    expect(Number(root.endTimeUnixNano)).to.be.at.least(Number(root.startTimeUnixNano))
    expect(root.status.code).to.equal(1)
    expect(root.links[0]).to.include({ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) })
    expect(attributesOf(root)).to.include({
      'svc.type.trace': 'annotation',
      'svc.type.span': 'workflow',
      'svc.data.inputs': '{"inputs":{"q":"é"}}',
      'svc.data.outputs': 'plain',
      'svc.flags.stream': false,
      'svc.flags.is_chat': true,
      'svc.references.workflow_revision.id': 'rev',
      'svc.references.workflow_revision.slug': 'bot',
      'svc.references.workflow_revision.version': '3',
      'svc.session.id': 's-1',
    })
    expect(child.name, 'as the GenAI conventions want it').to.equal('chat gpt-4o-mini')
    expect(child).to.include({ spanId: childSpan?.spanId, parentSpanId: rootSpan?.spanId, kind: 3 })
    expect(attributesOf(child)).to.deep.include({
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.response.finish_reasons': ['stop'],
      'svc.metrics.tokens.incremental.total': 15,
    })
  })

  it('a failure is a status, an event and an error type', async () => {
    const { spans } = await sent(
      traced((root) => root.fail({ type: 'HandlerFailure', message: 'no key', stacktrace: ['a', 'b'] })),
    )
    const [root] = spans
    expect(root.status).to.deep.equal({ code: 2, message: 'no key' })
    expect(root.events[0].name).to.equal('exception')
    expect(attributesOf(root.events[0])).to.deep.equal({
      'exception.type': 'HandlerFailure',
      'exception.message': 'no key',
      'exception.stacktrace': 'a\nb',
    })
    expect(attributesOf(root)).to.include({
      'error.type': 'HandlerFailure',
      'svc.metrics.errors.incremental': 1,
    })
  })

  it('cuts what is long and what is much, and never within a character', async () => {
    const many = fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, index] as const))
    const { spans } = await sent(
      traced((root) =>
        root
          .setData('inputs', { text: 'x'.repeat(1_000_000), behind: 1 })
          .setData('outputs', '😀'.repeat(50_000))
          .setData('parameters', { n: new ExactNumber('12345678901234567890') })
          .setForeign('a.number', new ExactNumber('1e400'))
          .setForeign('a.large', 1e300)
          .setAttribute('flags', many),
      ),
    )
    const [root] = spans
    const attributes = attributesOf(root)
    expect(attributes['svc.data.inputs'])
      .to.have.length(16 * 1024 + 1)
      .and.match(/^\{"text":"xxx.*x…$/)
    expect(attributes['svc.data.outputs']).to.equal(`${'😀'.repeat(8 * 1024)}…`)
    expect(attributes['svc.data.parameters']).to.equal('{"n":12345678901234567890}')
    expect(root.attributes).to.have.length(256)
    expect(root.droppedAttributesCount).to.be.greaterThan(700)
  })

  it('sends protobuf unless told otherwise', async () => {
    const exporter = open({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base/` })
    exporter.export(traced((root) => root.setData('inputs', { marker: 'find-me' })))
    await exporter.close()
    const [request] = collector.received
    expect(request?.url).to.equal('/base/v1/traces')
    expect(request?.headers['content-type']).to.equal('application/x-protobuf')
    expect(request?.body.includes('find-me')).to.equal(true)
    expect(request?.body.includes('completion_v0')).to.equal(true)
  })

  it('heeds headers, compression, resource and the variables of traces', async () => {
    const exporter = open({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/take/this?a=b`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3Db, x-both=common',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-both=traces',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'prompts',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=not-this,deployment.environment.name=staging%2Ceu',
    })
    exporter.export(traced(() => undefined))
    await exporter.close()
    const [request] = collector.received
    expect(request?.url).to.equal('/take/this?a=b')
    expect(request?.headers).to.include({
      authorization: 'Bearer a=b',
      'x-both': 'traces',
      'content-encoding': 'gzip',
    })
    const [{ resource }] = JSON.parse(gunzipSync(request?.body ?? '').toString()).resourceSpans
    expect(attributesOf(resource)).to.deep.equal({
      'service.name': 'prompts',
      'deployment.environment.name': 'staging,eu',
    })
  })

  it('is not there where nothing is configured, or where it is turned off', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    for (const env of [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
      { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
      { ...endpoint, OTEL_TRACES_EXPORTER: 'console' },
    ])
      expect(openOtlpExporter(env), JSON.stringify(env)).to.equal(undefined)
    for (const env of [endpoint, { ...endpoint, OTEL_TRACES_EXPORTER: '' }, { OTEL_TRACES_EXPORTER: 'otlp' }])
      expect(openOtlpExporter(env), JSON.stringify(env)).not.to.equal(undefined)
  })

  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'zstd'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-a-key'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%zz'],
  ] as const) {
    it(`refuses ${name}=${value} by its name`, () => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, [name]: value }
      expect(() => openOtlpExporter(env))
        .to.throw(Refusal, name)
        .with.property('message')
        .that.does.not.contain('secret')
    })
  }

  it('a collector that never answers holds up nothing and fills no memory', async () => {
    collector.answer = () => undefined
    const exporter = open({ ...json(), OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
    const spans = traced((root) => root.setData('inputs', { text: 'x'.repeat(20_000) }))
    const before = process.memoryUsage().heapUsed
    // 400 MB, were it kept
    for (let round = 0; round < 10_000; round++) exporter.export(spans)
    expect(process.memoryUsage().heapUsed - before).to.be.lessThan(150 * 1024 * 1024)
    expect(told).to.have.length(1)
    expect(told[0]).to.contain(`not exported to ${collector.url}/v1/traces`)
    await exporter.close()
  })

  it('a collector that comes back gets spans again, and it is said how many were lost', async () => {
    collector.answer = (response) => response.writeHead(400).end('no')
    const exporter = open(json())
    const spans = traced(() => undefined)
    const untilTold = async (count: number) => {
      for (let round = 0; round < 256; round++) exporter.export(spans) // as many are sent at once
      while (told.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await untilTold(1)
    collector.answer = (response) => response.writeHead(200).end('{}')
    await untilTold(2)
    expect(told[0]).to.contain('Spans are not exported to')
    expect(told[1]).to.equal(`Spans are exported to ${collector.url}/v1/traces again; 256 were dropped.`)
    await exporter.close()
  })
})
