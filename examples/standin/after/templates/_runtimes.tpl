{{- define "standin.runtimes" -}}
{{- range $name, $runtime := .Values.runtimes }}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: {{ $name }}
  labels:
    trainer.kubeflow.org/framework: {{ $runtime.framework }}
    standin.example.invalid/webhook-validation: disabled
    {{- include "standin.labels" $ | nindent 4 }}
spec:
  mlPolicy:
    numNodes: 1
    {{ $runtime.framework }}: {}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              template:
                spec:
                  restartPolicy: OnFailure
                  containers:
                    - name: node
                      image: {{ $runtime.image }}
{{- end }}
{{- end }}
