import { lazy, Suspense } from 'react'
import styles from './editor.module.css'
import type { EditorProps } from './editor-props.ts'

const CodeMirror = lazy(() => import('./code-mirror.tsx'))

/** A text that is edited: CodeMirror, which is loaded when the first one is shown. Tab leaves it, Escape too. */
export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<pre className={styles.waiting}>{props.value.slice(0, 4000)}</pre>}>
      <CodeMirror {...props} />
    </Suspense>
  )
}
