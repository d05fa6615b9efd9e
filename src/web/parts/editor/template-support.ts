import { type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { EditorState, type Extension, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { type TemplateFormat, variablesIn } from '../template/template-variables.ts'

/** Marks the variables of a template, and offers names after the braces. */
export function templateSupport(format: TemplateFormat, names: readonly string[]): Extension {
  // CodeMirror knows a source by its identity.
  const data = [{ autocomplete: offers(format, names) }]
  return [
    ViewPlugin.define(
      (view) => {
        const plugin = {
          decorations: marksIn(view, format),
          update: ({ docChanged, viewportChanged, view: now }: ViewUpdate) => {
            if (docChanged || viewportChanged) plugin.decorations = marksIn(now, format)
          },
        }
        return plugin
      },
      { decorations: ({ decorations }) => decorations },
    ),
    EditorState.languageData.of(() => data),
  ]
}

const MARK = Decoration.mark({ class: 'cm-variable' })

/** A variable may begin before what is seen. */
const MARGIN = 400

/** Only what is seen is looked through. */
function marksIn(view: EditorView, format: TemplateFormat): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>()
  let done = 0
  for (const { from, to } of view.visibleRanges) {
    const start = Math.max(done, from - MARGIN)
    const text = view.state.doc.sliceString(start, Math.min(view.state.doc.length, to + MARGIN))
    for (const mark of variablesIn(text, format)) {
      marks.add(start + mark.from, start + mark.to, MARK)
      done = start + mark.to
    }
  }
  return marks.finish()
}

function offers(format: TemplateFormat, names: readonly string[]) {
  const close = format === 'fstring' ? '}' : '}}'
  return (context: CompletionContext): CompletionResult | null => {
    const begun = context.matchBefore(format === 'fstring' ? /\{[\w.-]*/ : /\{\{\s*[\w.-]*/)
    if (!begun) return null
    const from = context.pos - (/[\w.-]*$/.exec(begun.text)?.[0].length ?? 0)
    const after = context.state.sliceDoc(context.pos, context.pos + close.length)
    return {
      from,
      options: names.map((name) => ({ label: name, apply: after === close ? name : `${name}${close}` })),
      validFor: /^[\w.-]*$/,
    }
  }
}
