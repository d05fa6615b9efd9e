import { setTimeout as pause } from 'node:timers/promises'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { type OtlpSettings, otlpSettings } from './otlp-settings.ts'
import { otlpSpan } from './otlp-span.ts'
import type { Span } from '../span.ts'

/** Sends finished spans to a collector of the operator's. */
export interface OtlpExporter {
  /** Takes spans to be sent some seconds later. Never waits, never fails. */
  export(spans: readonly Span[]): void
  /** Sends what is there, and gives up after three seconds. */
  close(): Promise<void>
}

/**
 * Exports spans over OTLP, as OpenTelemetry's own variables in `env` say (see otlp-settings.ts); undefined where they name no collector.
 * Spans wait in memory for at most 32 MiB and 4,096 of them, those being sent included; what comes beyond that, because the collector is
 * slow or dead, is dropped. `warn` is told of it in a sentence when the trouble begins, and when it is over.
 */
export function openOtlpExporter(
  env: Readonly<Record<string, string | undefined>>,
  warn: (sentence: string) => void = () => undefined,
): OtlpExporter | undefined {
  const settings = otlpSettings(env)
  if (!settings) return undefined
  const resource = resourceFromAttributes(settings.resource)
  const line = new Line(settings, warn)
  return {
    export: (spans) => {
      for (const span of spans) if (line.hasRoom()) line.add(otlpSpan(span, resource))
    },
    close: () => line.close(),
  }
}

const MAX_BYTES = 32 * 1024 * 1024
const MAX_SPANS = 4096

/** Small enough that making its message holds up nobody. */
const BATCH_SPANS = 256

const CLOSE_MS = 3000

/** The spans on their way, in OpenTelemetry's batch processor, which alone would count spans but not their sizes. */
class Line {
  readonly #processor: BatchSpanProcessor
  readonly #sizes = new Map<ReadableSpan, number>()
  /** As it may be shown: without what a URL can hold of credentials. */
  readonly #place: string
  readonly #warn: (sentence: string) => void
  #bytes = 0
  #lost = 0
  #isTroubled = false

  constructor(settings: OtlpSettings, warn: (sentence: string) => void) {
    const { origin, pathname } = new URL(settings.url)
    this.#place = `${origin}${pathname}`
    this.#warn = warn
    this.#processor = new BatchSpanProcessor({
      exporter: this.#watched(exporterOf(settings)),
      maxQueueSize: MAX_SPANS,
      maxExportBatchSize: BATCH_SPANS,
      exportTimeoutMillis: 2 * settings.timeoutMs,
    })
  }

  /** Whether another span fits; counts it as lost if not. */
  hasRoom(): boolean {
    if (this.#sizes.size < MAX_SPANS && this.#bytes < MAX_BYTES) return true
    this.#lost++
    this.#trouble('it takes spans more slowly than they are made')
    return false
  }

  add({ readable, size }: { readonly readable: ReadableSpan; readonly size: number }): void {
    this.#sizes.set(readable, size)
    this.#bytes += size
    this.#processor.onEnd(readable)
  }

  async close(): Promise<void> {
    const sent = this.#processor.shutdown().catch(() => undefined) // `#watched` has told of it
    const late = new AbortController()
    await Promise.race([sent, pause(CLOSE_MS, undefined, { signal: late.signal }).catch(() => undefined)])
    late.abort()
  }

  /** The exporter, with an eye on what leaves it and on how it fares. */
  #watched(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          for (const span of spans) this.#forget(span)
          if (result.error) {
            this.#lost += spans.length
            this.#trouble(result.error.message)
          } else this.#recovery()
          done(result)
        }),
      shutdown: () => exporter.shutdown(),
    }
  }

  #forget(span: ReadableSpan): void {
    this.#bytes -= this.#sizes.get(span) ?? 0
    this.#sizes.delete(span)
  }

  #trouble(reason: string): void {
    if (this.#isTroubled) return
    this.#isTroubled = true
    this.#warn(`Spans are not exported to ${this.#place}: ${reason}. They are dropped until it is better.`)
  }

  #recovery(): void {
    if (!this.#isTroubled) return
    this.#isTroubled = false
    this.#warn(`Spans are exported to ${this.#place} again; ${this.#lost} were dropped.`)
    this.#lost = 0
  }
}

function exporterOf({ url, protocol, headers, timeoutMs, compression }: OtlpSettings): SpanExporter {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
  return new Exporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    // the enum of the package has these two texts as its values, but cannot be imported from it
    compression: compression as NonNullable<
      NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>['compression']
    >,
  })
}
