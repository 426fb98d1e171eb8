package main

// The kinds kustomize does not know: training jobs, whose pod templates merge like a Deployment's.
var ours = map[string]schema{
	"org.paddlepaddle.batch.v1.PaddleJob": kind("batch.paddlepaddle.org", "v1", "PaddleJob", schema{
		"ps": templated, "worker": templated, "heter": templated,
	}),
	"org.kubeflow.v1.PaddleJob": kind("kubeflow.org", "v1", "PaddleJob", schema{
		"paddleReplicaSpecs": schema{"additionalProperties": templated},
	}),
	"org.paddlepaddle.v1.TrainingJob": kind("paddlepaddle.org", "v1", "TrainingJob", schema{
		"volumes":      list("name", "io.k8s.api.core.v1.Volume"),
		"VolumeMounts": list("mountPath", ""), // The capital is the upstream type's own.
	}),
	"sh.volcano.batch.v1alpha1.Job": kind("batch.volcano.sh", "v1alpha1", "Job", schema{
		"tasks":   list("name", "sh.volcano.batch.v1alpha1.TaskSpec"),
		"volumes": list("mountPath", ""),
	}),
	"sh.volcano.batch.v1alpha1.TaskSpec":      templated,
	"sh.volcano.scheduling.v1beta1.PodGroup":  kind("scheduling.volcano.sh", "v1beta1", "PodGroup", schema{}),
	"sh.volcano.scheduling.v1beta1.Queue":     kind("scheduling.volcano.sh", "v1beta1", "Queue", schema{}),
	"sh.volcano.scheduling.v1alpha2.PodGroup": kind("scheduling.volcano.sh", "v1alpha2", "PodGroup", schema{}),
}

// templated is a role, a replica spec or a task: something with a pod template.
var templated = schema{"properties": schema{
	"template": schema{"$ref": refStart + "io.k8s.api.core.v1.PodTemplateSpec"},
}}

func kind(group, version, name string, spec schema) schema {
	return schema{
		gvk: []any{schema{"group": group, "version": version, "kind": name}},
		"properties": schema{
			"metadata": schema{"$ref": refStart + "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
			"spec":     schema{"properties": spec},
		},
	}
}

// list merges element by element, told apart by key.
func list(key, element string) schema {
	items := schema{}
	if element != "" {
		items["$ref"] = refStart + element
	}
	return schema{"type": "array", "items": items, strategy: "merge", mergeKey: key}
}

// clusterScoped are the paths from which kustomize learns that `namespace:` leaves a kind alone.
// It has its own table for the built-in kinds.
func clusterScoped() map[string]schema {
	paths := map[string]schema{}
	for _, one := range [][4]string{
		{"extensions", "v1beta1", "ThirdPartyResource", "thirdpartyresources"},
		{"kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues"},
		{"kueue.x-k8s.io", "v1beta1", "ResourceFlavor", "resourceflavors"},
		{"kueue.x-k8s.io", "v1beta1", "WorkloadPriorityClass", "workloadpriorityclasses"},
		{"scheduling.volcano.sh", "v1beta1", "Queue", "queues"},
	} {
		paths["/apis/"+one[0]+"/"+one[1]+"/"+one[3]+"/{name}"] = schema{"get": schema{
			gvk: schema{"group": one[0], "version": one[1], "kind": one[2]},
		}}
	}
	return paths
}
