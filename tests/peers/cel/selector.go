// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	resourceapi "k8s.io/api/resource/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// compiler: what GetCompiler returns; its type has no public name. It keeps the latest only, so we keep one for each set of
// gates.
type compiler interface {
	CompileCELExpression(expression string, options dracel.Options) dracel.CompilationResult
}

var compilers = map[dracel.Features]compiler{}

func compilerFor(gates []string) (compiler, error) {
	var features dracel.Features
	for _, gate := range gates {
		switch gate {
		case "ConsumableCapacity":
			features.EnableConsumableCapacity = true
		case "ListTypeAttributes":
			if err := setListTypeAttributes(&features); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("unknown feature gate %q", gate)
		}
	}
	if compilers[features] == nil {
		compilers[features] = dracel.GetCompiler(features)
	}
	return compilers[features], nil
}

func options(envType environment.Type) dracel.Options {
	return dracel.Options{EnvType: &envType}
}

// admit: what the API server's validation does with a selector's expression.
func admit(c compiler, expression string, envType environment.Type) verdict {
	if len(expression) > resourceapi.CELSelectorExpressionMaxLength {
		return verdict{Verdict: "long"}
	}
	result := c.CompileCELExpression(expression, options(envType))
	if result.Error != nil {
		return verdict{Verdict: "invalid", Error: result.Error.Error()}
	}
	cost := result.MaxCost
	if cost > resourceapi.CELSelectorExpressionMaxCost {
		return verdict{Verdict: "expensive", Cost: &cost}
	}
	return verdict{Verdict: "ok", Cost: &cost}
}

// match: what the scheduler does with a stored selector and one device.
func match(c compiler, expression string, input dracel.Device) *outcome {
	result := c.CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
	if result.Error != nil {
		return &outcome{Error: result.Error.Error()}
	}
	matches, _, err := result.DeviceMatches(context.Background(), input)
	if err != nil {
		return &outcome{Error: err.Error()}
	}
	return &outcome{Match: &matches}
}

// capture keeps the value that DeviceMatches would only convert.
type capture struct {
	cel.Program
	value ref.Val
	err   error
}

func (p *capture) ContextEval(ctx context.Context, input any) (ref.Val, *cel.EvalDetails, error) {
	value, details, err := p.Program.ContextEval(ctx, input)
	p.value, p.err = value, err
	return value, details, err
}

// evaluate: the value of an expression of any type, in the environment of selectors.
func evaluate(c compiler, r request) (value, error) {
	envType := environment.StoredExpressions
	if r.Env == "new" {
		envType = environment.NewExpressions
	}
	base := c.CompileCELExpression("true", options(envType))
	if base.Error != nil {
		return value{}, base.Error
	}
	env, err := extend(base.Environment, r)
	if err != nil {
		return value{}, err
	}
	ast, refused := parse(env, r)
	if refused != "" {
		return value{Stage: "compile", Error: refused}, nil
	}
	program, err := env.Program(ast, cel.CostLimit(resourceapi.CELSelectorExpressionMaxCost),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return value{Stage: "compile", Error: err.Error()}, nil
	}
	out := value{}
	if !r.DisableCheck {
		out.Type = ast.OutputType().String()
	}
	result, details, err := run(base, program, r)
	if details != nil {
		out.Cost = details.ActualCost()
	}
	if err != nil {
		out.Stage, out.Error = "run", err.Error()
		return out, nil
	}
	written := write(result)
	out.Value = &written
	return out, nil
}

func extend(env *cel.Env, r request) (*cel.Env, error) {
	var more []cel.EnvOption
	if r.Container != "" {
		more = append(more, cel.Container(r.Container))
	}
	for _, v := range r.Variables {
		more = append(more, cel.Variable(v.Name, v.Type.Type))
	}
	if len(more) == 0 {
		return env, nil
	}
	return env.Extend(more...)
}

func parse(env *cel.Env, r request) (*cel.Ast, string) {
	compile := env.Compile
	if r.DisableCheck {
		compile = env.Parse
	}
	ast, issues := compile(r.Expression)
	if issues != nil && issues.Err() != nil {
		return nil, issues.Err().Error()
	}
	return ast, ""
}

func run(base dracel.CompilationResult, program cel.Program, r request) (ref.Val, *cel.EvalDetails, error) {
	if r.Device != nil {
		caught := &capture{Program: program}
		base.Program = caught
		_, details, err := base.DeviceMatches(context.Background(), r.Device.input())
		if caught.value != nil {
			err = caught.err // not that of the conversion to bool
		}
		return caught.value, details, err
	}
	bindings := map[string]interface{}{}
	for name, binding := range r.Bindings {
		bound, err := binding.read()
		if err != nil {
			return nil, nil, fmt.Errorf("binding %q: %w", name, err)
		}
		bindings[name] = bound
	}
	return program.Eval(bindings)
}
